//===- AffineGrid.cpp - AffineGrid ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes AffineGrid. ONNX's function divides by the size minus 1, which
// gives NaN for a size of 1 with align_corners. In this case, this code returns
// the coordinate 0, the middle, like PyTorch.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"
#include "passes/support/Resampling.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

using support::Scalars;

/// Returns the coordinates of a dimension's elements, from -1 to 1, as `type`.
static Value coordinatesOf(Node &node, OpFoldResult size, bool alignCorners,
                           Type type) {
  return generate(
      node, type, {size},
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Scalars s{b, loc};
        auto number = [&](double value) {
          return nn::scalar(b, loc, type, value);
        };
        auto real = [&](Value index) -> Value {
          Value wide =
              arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
          return arith::SIToFPOp::create(b, loc, type, wide);
        };
        Value count = support::indexValue(b, loc, size);
        // Twice the position of the element, or of its middle.
        Value twice = s.mul(indices[0], s.n(2));
        if (alignCorners)
          count = s.sub(count, s.n(1));
        else
          twice = s.add(twice, s.n(1));
        Value at = s.sub(s.div(real(twice), real(count)), number(1));
        return alignCorners ? s.choose(arith::CmpIPredicate::sgt, count, s.n(0),
                                       at, number(0))
                            : at;
      });
}

static LogicalResult legalizeAffineGrid(Node &node) {
  if (!node.has(0) || !node.has(1))
    return node.invalid("theta and size are needed");
  if (node.rank(0) != 3 || node.rank(1) != 1)
    return node.invalid("theta needs rank 3 and size rank 1, but they have " +
                        Twine(node.rank(0)) + " and " + Twine(node.rank(1)));
  auto sizes = elementsOf(node, node.input(1));
  if (failed(sizes))
    return failure();
  int64_t rank = sizes->size(), spatial = rank - 2;
  if (rank != 4 && rank != 5)
    return node.invalid("size needs 4 or 5 elements, but has " + Twine(rank));
  if (failed(node.checkElements(1, "size", {0, nn::kMostElements})))
    return failure();
  auto theta = [&](int64_t dim) { return sizeOf(node, node.input(0), dim); };
  auto require = [&](int64_t dim, OpFoldResult wanted, StringRef text) {
    return requireFit(node, nn::SizeRelation::equal, theta(dim), wanted,
                      "dimension " + Twine(dim) + " of theta is {0}, not {1}" +
                          text);
  };
  if (failed(require(0, sizes->front(), ", the first element of size")) ||
      failed(require(1, sizeAttr(node, spatial), "")) ||
      failed(require(2, sizeAttr(node, spatial + 1), "")))
    return failure();

  Type element = node.elementType(0), type = nn::computeType(element);
  bool alignCorners = node.getInt("align_corners", 0) != 0;
  // Coordinates that theta multiplies, the last dimension first.
  SmallVector<Value> coordinates;
  for (int64_t k = 0; k < spatial; ++k)
    coordinates.push_back(
        coordinatesOf(node, (*sizes)[rank - 1 - k], alignCorners, type));
  Value matrix = castTo(node, node.input(0), type);
  Sizes shape = {sizes->front()};
  llvm::append_range(shape, ArrayRef(*sizes).drop_front(2));
  shape.push_back(sizeAttr(node, spatial));
  Value grid = generate(
      node, type, shape,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Scalars s{b, loc};
        auto entry = [&](int64_t column) -> Value {
          return tensor::ExtractOp::create(
              b, loc, matrix, ValueRange{at.front(), at.back(), s.n(column)});
        };
        Value sum = entry(spatial);
        for (int64_t k = 0; k < spatial; ++k) {
          Value x = tensor::ExtractOp::create(b, loc, coordinates[k],
                                              at[spatial - k]);
          sum = s.add(sum, s.mul(entry(k), x));
        }
        return sum;
      });
  return node.replace(castTo(node, grid, element));
}

void legalize::populateAffineGrid(Legalizers &legalizers) {
  legalizers.add("AffineGrid", legalizeAffineGrid);
}
