//===- SkippedBuffers.cpp - buffers that may be empty at run time ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/SkippedBuffers.h"

#include "passes/support/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

void ingot::skipWhen(memref::AllocOp alloc, Value condition) {
  OpBuilder builder(alloc);
  Location loc = alloc.getLoc();
  OpOperand &size = alloc.getDynamicSizesMutable()[0];
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  size.set(arith::SelectOp::create(builder, loc, condition, zero, size.get()));
}

Value ingot::skippedWhen(Value memref) {
  auto alloc = support::baseOf(memref).getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc.getDynamicSizes().empty())
    return {};
  auto choice =
      alloc.getDynamicSizes().front().getDefiningOp<arith::SelectOp>();
  return choice && isZeroInteger(choice.getTrueValue()) ? choice.getCondition()
                                                        : Value();
}
