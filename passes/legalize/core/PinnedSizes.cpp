//===- PinnedSizes.cpp - dynamic sizes made static ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a dynamic size static where the operator allows only one size.
// Examples: a box has four coordinates, a list of scales has one per dimension,
// and data have as many channels as the weights. The run checks that the size
// is the expected one.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

Value legalize::pinSizes(Node &node, Value x, ArrayRef<int64_t> shape,
                         const Twine &what) {
  RankedTensorType type = typeOf(x);
  if (type.getRank() != int64_t(shape.size()))
    return x;
  SmallVector<int64_t> pinned(type.getShape());
  Indices index{node.builder, node.loc()};
  for (auto [i, size] : llvm::enumerate(shape)) {
    // Skips a negative size, which comes from an overflow in attributes.
    if (size < 0 || !type.isDynamicDim(i))
      continue;
    pinned[i] = size;
    Value has = indexValue(node, sizeOf(node, x, i)), wants = index.n(size);
    require(node.builder, node.loc(), index.equal(has, wants),
            "dimension " + Twine(i) + " of " + what +
                " is {0}, but must be {1}",
            {has, wants});
  }
  RankedTensorType to = type.clone(pinned);
  return to == type ? x : node.create<tensor::CastOp>(to, x);
}

void legalize::pinInput(Node &node, size_t i, ArrayRef<int64_t> shape,
                        const Twine &what) {
  if (node.has(i))
    node.op.getInputsMutable()[i].set(
        pinSizes(node, node.input(i), shape, what));
}

Value legalize::pinDim(Node &node, Value x, int64_t dim, int64_t size,
                       const Twine &what) {
  SmallVector<int64_t> shape(typeOf(x).getRank(), ShapedType::kDynamic);
  shape[dim] = size;
  return pinSizes(node, x, shape, what);
}

void legalize::pinToOne(Node &node, size_t i, const Twine &what) {
  if (node.has(i))
    pinInput(node, i, SmallVector<int64_t>(node.rank(i), 1), what);
}
