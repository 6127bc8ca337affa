//===- Destination.cpp - where ops write their results --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Destination.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;

Value lower::createDestination(OpBuilder &builder, Location loc,
                               RankedTensorType type,
                               function_ref<Value(int64_t)> size) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(size(i));
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType(), sizes);
}

Value lower::createDestinationLike(OpBuilder &builder, Location loc,
                                   Value like) {
  return createDestination(builder, loc, cast<RankedTensorType>(like.getType()),
                           [&](int64_t i) -> Value {
                             return tensor::DimOp::create(builder, loc, like,
                                                          i);
                           });
}

Value lower::scaleIndex(OpBuilder &builder, Location loc, Value value,
                        int64_t scale, int64_t offset, int64_t divisor,
                        int64_t more) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  if (scale != 1)
    value = arith::MulIOp::create(builder, loc, value, constant(scale));
  if (offset != 0)
    value = arith::AddIOp::create(builder, loc, value, constant(offset));
  if (divisor != 1)
    value = arith::DivUIOp::create(builder, loc, value, constant(divisor));
  if (more != 0)
    value = arith::AddIOp::create(builder, loc, value, constant(more));
  return value;
}

Value lower::createWindowed(OpBuilder &builder, Location loc, Value x,
                            RankedTensorType type, ArrayRef<int64_t> kernel,
                            ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                            ArrayRef<int64_t> dilations) {
  int64_t n = kernel.size();
  return createDestination(builder, loc, type, [&](int64_t i) -> Value {
    Value size = tensor::DimOp::create(builder, loc, x, i);
    if (i < 1 || i > n)
      return size;
    int64_t d = i - 1, extent = (kernel[d] - 1) * dilations[d] + 1;
    return scaleIndex(builder, loc, size, 1, pads[d] + pads[n + d] - extent,
                      strides[d], 1);
  });
}
