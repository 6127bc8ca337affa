//===- Range.cpp - Range --------------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/Limits.h"
#include "passes/legalize/core/ComputedShape.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Returns true if `number` is computed from input sizes and small constants
/// only. Sums of such values fit 64 bits if the sizes do.
static bool isFromSizes(OpFoldResult number, int depth = 8) {
  if (auto known = getConstantIntValue(number))
    return llvm::isInt<32>(*known);
  Operation *op = cast<Value>(number).getDefiningOp();
  if (isa_and_nonnull<tensor::DimOp>(op))
    return true;
  return depth != 0 && op && op->getNumOperands() != 0 &&
         isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getType().isInteger(1) ||
                  isFromSizes(operand, depth - 1);
         });
}

/// Computes ceil(length / by) for a `length` that is not negative.
static OpFoldResult countSteps(Node &node, OpFoldResult length, int64_t by) {
  if (by == 1)
    return length;
  return divSizes(node, addSizes(node, length, sizeAttr(node, by - 1)),
                  sizeAttr(node, by));
}

/// Computes the number of integers in a range of any int64. The length of a
/// range fits 64 bits only as an unsigned integer.
static Value countAnyIntegers(Node &node, OpFoldResult from, OpFoldResult to,
                              OpFoldResult by) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Indices i{b, loc};
  Type i64 = b.getI64Type();
  auto integer = [&](OpFoldResult number) -> Value {
    if (auto known = getConstantIntValue(number))
      return arith::ConstantIntOp::create(b, loc, i64, *known);
    return arith::IndexCastOp::create(b, loc, i64, indexValue(node, number));
  };
  Value low = integer(from), high = integer(to), part = integer(by),
        zero = integer(sizeAttr(node, 0)), one = integer(sizeAttr(node, 1));
  auto known = getConstantIntValue(by);
  if (!known) {
    require(b, loc, isNot(i, i.equal(part, zero)), "delta is 0");
    Value isDown = i.less(part, zero), start = low;
    low = i.choose(isDown, high, start);
    high = i.choose(isDown, start, high);
    part = i.choose(isDown, i.sub(zero, part), part);
    // Avoids a division by 0, which would end the process.
    part = arith::MaxUIOp::create(b, loc, part, one);
  } else if (*known < 0) {
    std::swap(low, high);
    // Handles the minimum int64: as an unsigned integer, it is its own
    // magnitude.
    part = arith::ConstantIntOp::create(b, loc, i64,
                                        int64_t(0 - uint64_t(*known)));
  }
  Value count = i.sub(high, low);
  if (known != 1 && known != -1)
    count = i.add(
        arith::DivUIOp::create(b, loc, i.sub(count, one), part), one);
  Value hasSome = i.less(low, high);
  count = i.of(i.choose(hasSome, count, zero));
  require(b, loc, i.less(i.n(-1), count),
          "the range has too many elements: their number does not fit into "
          "64 bits");
  return count;
}

/// Computes the number of integers in a range. The number is less than 1 if the
/// range is empty.
static FailureOr<OpFoldResult> countIntegers(Node &node) {
  auto from = elementsOf(node, node.input(0));
  auto to = elementsOf(node, node.input(1));
  auto by = elementsOf(node, node.input(2));
  if (failed(from) || failed(to) || failed(by))
    return failure();
  OpFoldResult start = from->front(), limit = to->front(), step = by->front();
  auto delta = getConstantIntValue(step);
  if (!delta)
    return OpFoldResult(countAnyIntegers(node, start, limit, step));
  if (*delta < 0)
    std::swap(start, limit);
  // True if `start` is 0, because a difference from 0 does not wrap around.
  bool isLength =
      (*delta == 1 || *delta == -1) && getConstantIntValue(start) == 0;
  if (isLength || (isFromSizes(start) && isFromSizes(limit) &&
                   isFromSizes(step)))
    return countSteps(node, subSizes(node, limit, start), std::abs(*delta));
  return OpFoldResult(
      countAnyIntegers(node, from->front(), to->front(), step));
}

/// Returns the number of integers in a constant range.
static uint64_t countKnownIntegers(int64_t start, int64_t limit,
                                   int64_t delta) {
  uint64_t part = delta;
  if (delta < 0) {
    std::swap(start, limit);
    part = 0 - part;
  }
  return start < limit ? (uint64_t(limit) - uint64_t(start) - 1) / part + 1 : 0;
}

/// Computes ceil((limit - start) / delta) in f64; 0 if it is negative.
static FailureOr<OpFoldResult> countFloats(Node &node) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Type f64 = b.getF64Type();
  auto number = [&](size_t i) {
    return castTo(node, reshape(node, node.input(i), ArrayRef<int64_t>()), f64);
  };
  Value zero = scalar(node, f64, 0), delta = number(2);
  Value step = tensor::ExtractOp::create(b, loc, delta, ValueRange());
  Value none = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0));
  // The check of the number of steps also refuses NaN.
  require(b, loc,
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, step, none),
          "delta is 0");
  Value length = binary<nn::SubOp>(node, number(1), number(0));
  Value count =
      unary<nn::CeilOp>(node, binary<nn::DivOp>(node, length, delta));
  // The maximum of NaN and a number is NaN.
  count = binary<nn::MaxOp>(node, count, zero);
  requireNumber(node, count, 0, onnx::kLargestTensor,
                "the number of steps, (limit - start) / delta,");
  auto counted = elementsOf(node, castTo(node, count, b.getI64Type()));
  if (failed(counted))
    return failure();
  return counted->front();
}

/// Returns the number of elements of a constant range; null if it is not
/// constant.
static FailureOr<OpFoldResult> countKnown(Node &node) {
  if (isa<IntegerType>(node.elementType(0))) {
    auto start = node.getConstantInts(0), limit = node.getConstantInts(1),
         delta = node.getConstantInts(2);
    if (!start || !limit || !delta)
      return OpFoldResult();
    uint64_t count =
        countKnownIntegers(start->front(), limit->front(), delta->front());
    if (count > uint64_t(onnx::kLargestTensor))
      return node.invalid("the range has too many elements");
    return sizeAttr(node, count);
  }
  auto start = nn::getConstantDoubles(node.input(0));
  auto limit = nn::getConstantDoubles(node.input(1));
  auto delta = nn::getConstantDoubles(node.input(2));
  if (!start || !limit || !delta)
    return OpFoldResult();
  double count = std::ceil((limit->front() - start->front()) / delta->front());
  if (!(count <= double(onnx::kLargestTensor)))
    return node.invalid("the range has too many elements");
  return sizeAttr(node, count > 0 ? int64_t(count) : 0);
}

LogicalResult legalize::legalizeRange(Node &node) {
  for (size_t i = 0; i < 3; ++i)
    if (!node.has(i) || node.type(i).getRank() > 1 ||
        !node.type(i).hasStaticShape() || node.type(i).getNumElements() != 1)
      return node.invalid("start, limit and delta need one element each");
  Type type = node.elementType(0);
  auto delta = nn::getConstantDoubles(node.input(2));
  if (delta && delta->front() == 0)
    return node.badElement("delta", std::nullopt, "0", "other than 0");
  FailureOr<OpFoldResult> count = countKnown(node);
  if (succeeded(count) && !*count) {
    count = isa<IntegerType>(type) ? countIntegers(node) : countFloats(node);
    if (succeeded(count))
      count = maxSizes(node, *count, sizeAttr(node, 0));
  }
  if (failed(count))
    return failure();
  OpFoldResult size = *count;
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
