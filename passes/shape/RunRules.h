//===- RunRules.h - size rules on symbolic sizes ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SHAPE_RUNRULES_H
#define INGOT_PASSES_SHAPE_RUNRULES_H

#include "passes/shape/SizeAnalysis.h"

namespace ingot::shape {

/// The size rules of an op, applied to symbolic sizes. `open` collects rules
/// that are neither proved nor refuted.
class RunRules : public nn::SizeRules {
public:
  RunRules(SizeAnalysis &analysis, mlir::Location loc,
           llvm::SmallVectorImpl<SizeAnalysis::Rule> &open)
      : SizeRules(analysis.context, loc), analysis(analysis), open(open) {}

  llvm::SmallVector<Size> sizesOf(mlir::Value tensor) override {
    return llvm::to_vector(analysis.sizesOf(tensor));
  }
  Size sizeOfIndex(mlir::Value index) override {
    return analysis.sizeOfIndex(index);
  }

protected:
  void postpone(nn::SizeRelation relation, Size a, Size b,
                const llvm::Twine &message) override {
    open.push_back({relation, a, b, message.str()});
  }
  Size absorbing(Size a, Size b) override {
    auto holdsAll = [&](Size whole, Size part) {
      llvm::SmallVector<Size, 2> parts = analysis.partsOf(whole);
      return llvm::all_of(analysis.partsOf(part), [&](Size size) {
        return llvm::is_contained(parts, size);
      });
    };
    return holdsAll(a, b) ? a : holdsAll(b, a) ? b : Size();
  }
  Size broadcastAtRun(Size a, Size b) override {
    if (analysis.isCutOf(a, b))
      return b;
    return analysis.isCutOf(b, a) ? a : analysis.broadcastOf(a, b);
  }
  void countProved() override { ++analysis.numProved; }

private:
  SizeAnalysis &analysis;
  llvm::SmallVectorImpl<SizeAnalysis::Rule> &open;
};

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_RUNRULES_H
