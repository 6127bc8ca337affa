//===- CudaScatter.cpp - updates of elements ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/Verify.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

static bool isI64(Value value) {
  return getElementTypeOrSelf(value).isSignlessInteger(64);
}

LogicalResult SortOp::verify() {
  for (Value value : getOperands())
    if (failed(expectRank(*this, "each operand", value, 1)))
      return failure();
  if (!isI64(getItems()) || !isI64(getSpare()))
    return emitOpError("expects items and spare of i64");
  return expectSize(*this, "spare", typeOf(getItems()).getDimSize(0),
                    typeOf(getSpare()).getDimSize(0));
}

void SortOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, /*readsDestination=*/true);
}

/// Merging takes about as many steps for each item as comparisons.
Work SortOp::getWork() { return workPerElement(getItems(), {32}); }

LogicalResult ScatterOp::verify() {
  ShapedType items = typeOf(getItems()), updates = typeOf(getUpdates()),
             dst = typeOf(getDst());
  if (!isI64(getItems()) || (items.getRank() != 1 && items.getRank() != 3))
    return emitOpError("expects items of i64 with rank 1 or 3");
  if (items.getRank() == 3 &&
      failed(expectKnown(*this, "a line", items.getShape().drop_front())))
    return failure();
  if (failed(expectRank(*this, "updates", getUpdates(), 2)) ||
      failed(expectRank(*this, "dst", getDst(), 2)) ||
      failed(expectSize(*this, "a slice", dst.getDimSize(1),
                        updates.getDimSize(1))))
    return failure();
  if (updates.getElementType() != dst.getElementType())
    return emitOpError("expects updates and dst of one element type");
  if (failed(verifyDst(*this, getDst())))
    return failure();
  auto yield = cast<YieldOp>(getCombiner().front().getTerminator());
  // The region has no signs, which are dropped later from the tensors.
  Type element = dst.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(getContext(), integer.getWidth());
  if (getCombiner().getArgumentTypes() != TypeRange{element, element} ||
      yield.getOperandTypes() != TypeRange{element})
    return emitOpError("expects a region that makes ")
           << element << " of two of them";
  return success();
}

void ScatterOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, /*readsDestination=*/true);
}

Work ScatterOp::getWork() { return workPerElement(getUpdates(), {1}); }

bool ScatterOp::isReplacing() {
  Block &body = getCombiner().front();
  return body.getTerminator()->getOperand(0) == body.getArgument(1);
}
