//===- Lowering.cpp - scalars and tensors of linalg -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;

Value lower::sizeOf(OpBuilder &builder, Location loc, Value tensor,
                    int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dim));
  return builder.createOrFold<tensor::DimOp>(loc, tensor, dim);
}

SmallVector<Value> lower::dynamicSizesLike(OpBuilder &builder, Location loc,
                                           RankedTensorType type, Value like) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(sizeOf(builder, loc, like, i));
  return sizes;
}

Value lower::createEmpty(OpBuilder &builder, Location loc,
                         RankedTensorType type, ValueRange dynamicSizes) {
  return tensor::EmptyOp::create(builder, loc, type, dynamicSizes);
}

Value lower::createFilled(OpBuilder &builder, Location loc,
                          RankedTensorType type, Value value,
                          ValueRange dynamicSizes) {
  Value empty = createEmpty(builder, loc, type, dynamicSizes);
  return linalg::FillOp::create(builder, loc, value, empty).getResult(0);
}

Value lower::createGeneric(
    OpBuilder &builder, Location loc, Value init, ValueRange inputs,
    ArrayRef<AffineMap> inputMaps,
    function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               linalg::YieldOp::create(nested, loc, body(nested, loc, args));
             })
      .getResult(0);
}
