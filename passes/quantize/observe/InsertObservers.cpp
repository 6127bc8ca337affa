//===- InsertObservers.cpp - nn-insert-observers --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/observe/ObservedTensors.h"

namespace ingot {
#define GEN_PASS_DEF_INSERTOBSERVERS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct InsertObserversPass
    : ingot::impl::InsertObserversBase<InsertObserversPass> {
  using InsertObserversBase::InsertObserversBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    quantize::ObservedTensors shown;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      auto tensors = quantize::nameTensors(quantize::findQuantizationPoints(
          quantize::findProducts(function, [](Operation *) { return true; })));
      for (auto &[value, name] : tensors) {
        builder.setInsertionPointAfterValue(value);
        shown.observe(builder, value, name);
        ++observed;
      }
    }
    shown.recordIn(getOperation());
  }
};

} // namespace
