//===- Requantize.cpp - requantization of int32 sums ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requantizes sums. ONNX's reference multiplies sums by an f32 ratio of scales,
// adds the zero point, both in f64, and rounds. If sum and product are small
// enough, one rounding in f32 gives the same result:
//
// If the ratio is at least 2^-21, its lowest bit is at least 2^-44, and so is
// the lowest bit of the exact product. If the product is below 2^9, which
// covers int8, its sum with a zero point is exact in f64. So the reference
// rounds only at the end. Smaller ratios give different results only if a
// product reaches half a step.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Evaluate.h"
#include "dialects/nn/Scalars.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/legalize/quant/Quantize.h"
#include "passes/legalize/quant/Requantize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static constexpr double kLargestProduct = 0x1p21, kSmallestRatio = 0x1p-21,
                        kNothing = 0.25;

std::vector<double> legalize::largestSums(Node &node, ByteInputs data,
                                          ByteInputs weights, int64_t dim) {
  auto numbers = nn::getConstantInts(node.input(weights.bytes));
  Value zero = node.input(weights.zeroPoint);
  auto zeros = zero ? nn::getConstantInts(zero) : SmallVector<int64_t>{0};
  RankedTensorType type = node.type(weights.bytes);
  int64_t size = type.getDimSize(dim);
  if (!numbers || !zeros ||
      (zeros->size() != 1 && int64_t(zeros->size()) != size))
    return {};
  bool isUnsigned = nn::isUnsigned(node.elementType(data.bytes));
  double least = isUnsigned ? 0 : -128, most = isUnsigned ? 255 : 127;
  Value dataZero = node.input(data.zeroPoint);
  std::optional<double> offset = dataZero ? nn::getSplat(dataZero) : 0.0;
  // The zero point is unknown, so take any value in the range of its type.
  double low = offset ? least - *offset : least - most;
  double high = offset ? most - *offset : most - least;
  int64_t behind = 1;
  for (int64_t each : type.getShape().drop_front(dim + 1))
    behind *= each;
  std::vector<double> below(size, 0), above(size, 0);
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    int64_t at = int64_t(i) / behind % size;
    double weight =
        double(number) - double((*zeros)[zeros->size() == 1 ? 0 : at]);
    below[at] -= std::min(weight * low, weight * high);
    above[at] += std::max(weight * low, weight * high);
  }
  for (auto [x, y] : llvm::zip_equal(below, above))
    x = std::max(x, y);
  return below;
}

void legalize::addBias(Node &node, std::vector<double> &largest, size_t i) {
  if (!node.has(i) || largest.empty())
    return;
  auto bias = nn::getConstantInts(node.input(i));
  if (!bias || bias->size() != largest.size())
    return largest.clear();
  for (auto [sum, number] : llvm::zip_equal(largest, *bias))
    sum += std::abs(double(number));
}

/// Folds `value` if all its operands are constants.
static Value folded(Node &node, Value value) {
  constexpr int64_t kMaxElements = int64_t(1) << 24;
  Operation *op = value.getDefiningOp();
  ElementsAttr constant = op ? nn::evaluate(op, kMaxElements) : ElementsAttr();
  if (!constant)
    return value;
  return arith::ConstantOp::create(node.builder, node.loc(),
                                   cast<TypedAttr>(constant));
}

FailureOr<Value> legalize::ratioOf(Node &node, Value x, Value w, Value y) {
  Type real = node.builder.getF32Type(), type = typeOf(x).getElementType();
  auto asReal = [&](Value value) {
    return folded(node, node.cast(folded(node, value), real));
  };
  // Round only f16. ONNX's reference follows numpy's promotion of integers and
  // bf16, which this function does not imitate.
  auto rounded = [&](Value value) {
    value = folded(node, value);
    return type.isF16() ? asReal(node.cast(value, type)) : value;
  };
  auto product = node.infer<nn::MulOp>(asReal(x), asReal(w));
  if (failed(product))
    return failure();
  return rounded(node.make<nn::DivOp>(rounded(*product), asReal(y)));
}

/// Returns true if one fused multiply-add of f32 gives the reference's result.
static bool fitsF32(Value ratio, ArrayRef<double> largest) {
  auto ratios = nn::getConstantDoubles(ratio);
  if (!ratios || largest.empty())
    return false;
  auto fits = [](double sum, double ratio) {
    return sum < kLargestSum && sum * ratio < kLargestProduct &&
           (ratio >= kSmallestRatio || sum * ratio <= kNothing);
  };
  // Compares each ratio with its own sum, if there is one ratio per sum.
  if (ratios->size() == largest.size() && typeOf(ratio).getRank() > 0 &&
      llvm::count(typeOf(ratio).getShape(), 1) + 1 == typeOf(ratio).getRank())
    return llvm::all_of(llvm::zip_equal(largest, *ratios), [&](auto pair) {
      return fits(std::get<0>(pair), std::get<1>(pair));
    });
  double most = *llvm::max_element(largest);
  return llvm::all_of(*ratios,
                      [&](double ratio) { return fits(most, ratio); });
}

/// Limit of ops between constants and a term of a sum.
static constexpr int kMaxDepth = 8;

/// Returns true if constants determine `value`.
static bool isConstant(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  return op && (nn::getConstant(value) ||
                (depth < kMaxDepth && isPure(op) && op->getNumOperands() > 0 &&
                 llvm::all_of(op->getOperands(), [&](Value operand) {
                   return isConstant(operand, depth + 1);
                 })));
}

/// Returns true if `value` is bytes, or bytes less a constant, as integers.
static bool isOfBytes(Value value) {
  if (auto difference = value.getDefiningOp<nn::SubOp>();
      difference && isConstant(difference.getB()))
    value = difference.getA();
  auto cast = value.getDefiningOp<nn::CastOp>();
  return cast && nn::isByte(typeOf(cast.getX()).getElementType());
}

/// Returns true if the terms of `sums` are a sum of products, constants, and
/// bytes times constants. Weights in bytes are then no larger than the weights
/// less their zero point, so that bounds of the whole bound each term. Sums of
/// the data, which other forms add, may be larger than the whole.
static bool hasSmallTerms(Value sums) {
  Operation *op = sums.getDefiningOp();
  auto isRemainder = [](Value value) {
    auto product = value.getDefiningOp<nn::MulOp>();
    return product && isOfBytes(product.getA()) && isConstant(product.getB());
  };
  if (isa_and_nonnull<nn::AddOp, nn::SubOp>(op))
    return (isConstant(op->getOperand(1)) || isRemainder(op->getOperand(1))) &&
           hasSmallTerms(op->getOperand(0));
  return isa_and_nonnull<nn::ConvOp, nn::MatMulOp, nn::CastOp>(op);
}

/// Returns integer `value` as f32, computed by operations on floats. Integer
/// kernels convert their sums anyway, and others need not convert floats to
/// integers. Precondition: f32 holds all sums and products.
static FailureOr<Value> inFloats(Node &node, Value value) {
  Type real = node.builder.getF32Type();
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<nn::AddOp, nn::SubOp, nn::MulOp>(op)) {
    // A cast of whole floats, or of bytes, is skipped.
    if (auto cast = dyn_cast_or_null<nn::CastOp>(op);
        cast &&
        (cast.getInRange() || nn::isByte(typeOf(cast.getX()).getElementType())))
      value = cast.getX();
    return folded(node, node.cast(value, real));
  }
  auto x = inFloats(node, op->getOperand(0)),
       y = inFloats(node, op->getOperand(1));
  if (failed(x) || failed(y))
    return failure();
  if (isa<nn::AddOp>(op))
    return node.infer<nn::AddOp>(*x, *y);
  return isa<nn::SubOp>(op) ? node.infer<nn::SubOp>(*x, *y)
                            : node.infer<nn::MulOp>(*x, *y);
}

LogicalResult legalize::requantize(Node &node, Value sums, Value ratio,
                                   Value zeroPoint,
                                   ArrayRef<double> largest) {
  if (!nn::isByte(typeOf(zeroPoint).getElementType()))
    return node.unsupported("a result of other numbers than bytes");
  bool fits = fitsF32(ratio, largest);
  // The largest sum is at least half of the sum of all magnitudes, so twice as
  // much bounds the sum of any terms.
  if (fits && 2 * *llvm::max_element(largest) < kLargestSum &&
      hasSmallTerms(sums)) {
    auto floats = inFloats(node, sums);
    if (failed(floats))
      return failure();
    sums = *floats;
  }
  auto y = node.infer<nn::RequantizeOp>(sums, ratio, zeroPoint, fits,
                                        /*least=*/IntegerAttr(),
                                        /*most=*/IntegerAttr());
  return failed(y) ? failure() : node.replace(*y);
}
