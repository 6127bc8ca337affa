//===- Range.cpp - Range --------------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/Limits.h"
#include "passes/legalize/ComputedShape.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Computes how many integers a range has; fewer than one if it has none.
static FailureOr<OpFoldResult> countIntegers(Node &node) {
  auto from = elementsOf(node, node.input(0));
  auto to = elementsOf(node, node.input(1));
  auto by = elementsOf(node, node.input(2));
  if (failed(from) || failed(to) || failed(by))
    return failure();
  OpFoldResult step = by->front();
  OpFoldResult up = subSizes(node, to->front(), from->front());
  if (auto known = getConstantIntValue(step)) {
    if (*known == INT64_MIN)
      return node.badElement("delta", std::nullopt, Twine(*known),
                             "above the least int64");
    OpFoldResult length =
        *known > 0 ? up : subSizes(node, from->front(), to->front());
    int64_t part = std::abs(*known);
    if (part == 1)
      return length;
    return divSizes(node, addSizes(node, length, sizeAttr(node, part - 1)),
                    sizeAttr(node, part));
  }
  Indices i{node.builder, node.loc()};
  Value delta = indexValue(node, step), length = indexValue(node, up);
  Value zero = i.n(0), one = i.n(1);
  Value isZero = i.equal(delta, zero);
  require(i.b, i.loc, isNot(i, isZero), "delta is 0");
  // Rounding towards zero is one step short, unless nothing is left over.
  Value divisor = i.choose(isZero, one, delta);
  Value count = i.div(length, divisor);
  Value isExact = i.equal(i.rem(length, divisor), zero);
  Value isUp = i.equal(i.less(zero, length), i.less(zero, divisor));
  Value hasPart = i.both(isUp, isNot(i, isExact));
  return OpFoldResult(i.choose(hasPart, i.add(count, one), count));
}

/// Computes ceil((limit - start) / delta) in f64.
static FailureOr<OpFoldResult> countFloats(Node &node) {
  Type f64 = node.builder.getF64Type();
  auto number = [&](size_t i) {
    return castTo(node, reshape(node, node.input(i), ArrayRef<int64_t>()), f64);
  };
  Value length = binary<nn::SubOp>(node, number(1), number(0));
  Value count =
      unary<nn::CeilOp>(node, binary<nn::DivOp>(node, length, number(2)));
  requireNumber(node, count, -onnx::kLargestTensor, onnx::kLargestTensor,
                "the number of steps, (limit - start) / delta,");
  auto counted =
      elementsOf(node, castTo(node, count, node.builder.getI64Type()));
  if (failed(counted))
    return failure();
  return counted->front();
}

LogicalResult legalize::legalizeRange(Node &node) {
  for (size_t i = 0; i < 3; ++i)
    if (!node.has(i) || node.type(i).getRank() > 1 ||
        !node.type(i).hasStaticShape() || node.type(i).getNumElements() != 1)
      return node.invalid("start, limit and delta need one element each");
  Type type = node.elementType(0);
  auto start = nn::getConstantDoubles(node.input(0));
  auto limit = nn::getConstantDoubles(node.input(1));
  auto delta = nn::getConstantDoubles(node.input(2));
  if (delta && delta->front() == 0)
    return node.badElement("delta", std::nullopt, "0", "other than 0");
  OpFoldResult size;
  if (start && limit && delta) {
    double count =
        std::ceil((limit->front() - start->front()) / delta->front());
    if (!(std::abs(count) <= double(onnx::kLargestTensor)))
      return node.invalid("the range has too many elements");
    size = sizeAttr(node, count > 0 ? int64_t(count) : 0);
  } else {
    FailureOr<OpFoldResult> count =
        isa<IntegerType>(type) ? countIntegers(node) : countFloats(node);
    if (failed(count))
      return failure();
    size = maxSizes(node, *count, sizeAttr(node, 0));
  }
  Value steps = countUp(node, {size});
  auto asScalar = [&](size_t i) {
    return reshape(node, node.input(i), ArrayRef<int64_t>());
  };
  auto scaled = node.infer<nn::MulOp>(castTo(node, steps, type), asScalar(2));
  if (failed(scaled))
    return failure();
  auto y = node.infer<nn::AddOp>(*scaled, asScalar(0));
  return failed(y) ? failure() : node.replace(*y);
}
