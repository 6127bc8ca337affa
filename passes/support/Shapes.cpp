//===- Shapes.cpp - size arithmetic ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

std::string support::describeSizes(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text;
}

Value support::indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value support::indexValue(OpBuilder &b, Location loc, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, loc, size);
}

Sizes support::sizesOf(OpBuilder &b, Location loc, Value tensor) {
  return tensor::getMixedSizes(b, loc, tensor);
}

Value support::sizeOf(OpBuilder &b, Location loc, Value tensor, int64_t dim) {
  return indexValue(b, loc, tensor::getMixedSize(b, loc, tensor, dim));
}

SmallVector<Value> support::dynamicSizesLike(OpBuilder &b, Location loc,
                                             RankedTensorType type,
                                             Value like) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(sizeOf(b, loc, like, i));
  return sizes;
}

SmallVector<Value> support::dynamicSizesOf(OpBuilder &b, Location loc,
                                           Value tensor,
                                           ArrayRef<int64_t> dims) {
  SmallVector<Value> sizes;
  for (int64_t d : dims)
    if (typeOf(tensor).isDynamicDim(d))
      sizes.push_back(sizeOf(b, loc, tensor, d));
  return sizes;
}

template <typename Op, typename Known>
static OpFoldResult combine(OpBuilder &b, Location loc, OpFoldResult x,
                            OpFoldResult y, Known known) {
  auto left = getConstantIntValue(x), right = getConstantIntValue(y);
  if (left && right)
    return b.getIndexAttr(known(*left, *right));
  Value l = indexValue(b, loc, x), r = indexValue(b, loc, y);
  return b.createOrFold<Op>(loc, l, r);
}

OpFoldResult support::addSizes(OpBuilder &b, Location loc, OpFoldResult x,
                               OpFoldResult y) {
  return combine<arith::AddIOp>(b, loc, x, y, std::plus<uint64_t>());
}
OpFoldResult support::subSizes(OpBuilder &b, Location loc, OpFoldResult x,
                               OpFoldResult y) {
  return combine<arith::SubIOp>(b, loc, x, y, std::minus<uint64_t>());
}
OpFoldResult support::mulSizes(OpBuilder &b, Location loc, OpFoldResult x,
                               OpFoldResult y) {
  return combine<arith::MulIOp>(b, loc, x, y, std::multiplies<uint64_t>());
}
OpFoldResult support::divSizes(OpBuilder &b, Location loc, OpFoldResult x,
                               OpFoldResult y) {
  return combine<arith::DivSIOp>(b, loc, x, y, [](int64_t x, int64_t y) {
    return y == -1 ? int64_t(-uint64_t(x)) : y ? x / y : 0;
  });
}
Value support::sizeBeforeCut(Value size) {
  auto min = size.getDefiningOp<arith::MinSIOp>();
  auto most = min ? getConstantIntValue(min.getRhs()) : std::nullopt;
  return most && *most >= 2 ? min.getLhs() : Value();
}
OpFoldResult support::minSizes(OpBuilder &b, Location loc, OpFoldResult x,
                               OpFoldResult y) {
  return combine<arith::MinSIOp>(
      b, loc, x, y, [](int64_t x, int64_t y) { return std::min(x, y); });
}
OpFoldResult support::maxSizes(OpBuilder &b, Location loc, OpFoldResult x,
                               OpFoldResult y) {
  return combine<arith::MaxSIOp>(
      b, loc, x, y, [](int64_t x, int64_t y) { return std::max(x, y); });
}

OpFoldResult support::productOf(OpBuilder &b, Location loc,
                                ArrayRef<OpFoldResult> sizes) {
  OpFoldResult known = b.getIndexAttr(1), open = known;
  for (OpFoldResult size : sizes) {
    OpFoldResult &product = getConstantIntValue(size) ? known : open;
    product = mulSizes(b, loc, product, size);
  }
  return isZeroInteger(known) ? known : mulSizes(b, loc, open, known);
}

SmallVector<int64_t> support::staticShape(ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return shape;
}

SmallVector<Value> support::dynamicSizes(ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> values;
  for (OpFoldResult size : sizes)
    if (!getConstantIntValue(size))
      values.push_back(cast<Value>(size));
  return values;
}
