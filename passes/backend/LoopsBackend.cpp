//===- LoopsBackend.cpp - what linalg says --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/backend/Backend.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/llvm/Passes.h"
#include "passes/loops/Passes.h"
#include "passes/shape/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

namespace {

/// Computes whatever no other backend took, so it is never asked.
class LoopsBackend : public Backend {
  BackendKind kind() const override { return BackendKind::loops; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<linalg::LinalgDialect>();
    linalg::registerAllDialectInterfaceImplementations(registry);
  }

  bool computes(Operation *) const override {
    return true;
  }

  void buildLower(OpPassManager &passes,
                  const BackendOptions &options) const override {
    passes.addPass(createNNToLinalg());
    passes.addPass(createCanonicalize());
    // What became constant since.
    passes.addNestedPass<func::FuncOp>(createRefuteChecks());
    passes.addPass(createCSEPass());
    passes.addPass(createFuseElementwise());
    passes.addPass(createCanonicalize());
    passes.addPass(createCSEPass());
    if ((options.precision == Precision::bf16 && options.multipliesBF16) ||
        options.halfSums) {
      NarrowStorageOptions narrow;
      narrow.half = options.precision;
      narrow.level = options.precisionLevel;
      narrow.keep.assign(options.keep.begin(), options.keep.end());
      passes.addNestedPass<func::FuncOp>(createNarrowStorage(narrow));
      passes.addPass(createCanonicalize());
      passes.addPass(createCSEPass());
    }
    passes.addPass(createFillSplats());
    passes.addPass(createRelaxReductions());
  }

  void buildKernels(OpPassManager &passes,
                    const BackendOptions &) const override {
    passes.addPass(createSpecializeLoops());
    passes.addPass(createCollapseLoops());
    passes.addPass(createOutlineLinalg());
  }

  void buildCodegen(OpPassManager &passes,
                    const BackendOptions &) const override {
    passes.addPass(createContractionsToVector());
    passes.addPass(createWidenRows());
    passes.addPass(createLoopsToVector());
    passes.addPass(createTablesToVector());
    passes.addPass(createTransposesToVector());
    passes.addPass(createMergeKernels());
    passes.addPass(createConvertLinalgToLoopsPass());
    passes.addPass(createApproximateMath());
    passes.addPass(createExpandBF16());
    passes.addPass(createExpandFMA());
    passes.addPass(createDivideByConstants());
    passes.addPass(createRoundToInteger());
  }
};

} // namespace

const Backend &ingot::loopsBackend() {
  static const LoopsBackend backend;
  return backend;
}
