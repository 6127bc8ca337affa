//===- InsertChannelObservers.cpp - nn-insert-channel-observers -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Passes.h"
#include "passes/quantize/observe/ObservedTensors.h"
#include "passes/quantize/repair/Smoothable.h"

namespace ingot {
#define GEN_PASS_DEF_INSERTCHANNELOBSERVERS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct InsertChannelObserversPass
    : ingot::impl::InsertChannelObserversBase<InsertChannelObserversPass> {
  using InsertChannelObserversBase::InsertChannelObserversBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    quantize::ObservedTensors shown;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (const quantize::SmoothableTensor &tensor :
           quantize::findSmoothableTensors(function)) {
        Value value = tensor.value;
        Location loc = value.getLoc();
        builder.setInsertionPointAfterValue(value);
        SmallVector<int64_t> axes;
        for (int64_t axis = 0,
                     rank = cast<RankedTensorType>(value.getType()).getRank();
             axis < rank; ++axis)
          if (axis != tensor.axis)
            axes.push_back(axis);
        Value largest = nn::AbsOp::create(builder, loc, value);
        largest = nn::ReduceOp::create(builder, loc, largest,
                                       nn::ReduceKind::max, axes,
                                       /*keep_dims=*/false);
        shown.observe(builder, largest, tensor.name);
      }
    }
    shown.recordIn(getOperation());
  }
};

} // namespace
