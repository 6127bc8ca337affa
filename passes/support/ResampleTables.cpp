//===- ResampleTables.cpp - tables of taps of resizing --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/ResampleTables.h"

#include "dialects/kernel/ResampleVerify.h"
#include "dialects/nn/Constants.h"
#include "passes/support/ReshapeGroups.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Returns the positions of all taps of element `at`, then their weights.
SmallVector<Value> TapTables::numbersAt(OpBuilder &b, Value at) {
  Scalars s{b, loc};
  Value pixel = at, channel;
  if (inner != 1) {
    pixel = arith::DivUIOp::create(b, loc, at, s.n(inner));
    channel = arith::RemUIOp::create(b, loc, at, s.n(inner));
  }
  SmallVector<Tap> taps = tapsOf(s, sampling, axis, pixel);
  SmallVector<Value> numbers;
  for (const Tap &tap : taps) {
    Value position = tap.position;
    if (channel)
      position = s.add(s.mul(position, s.n(inner)), channel);
    numbers.push_back(
        arith::IndexCastOp::create(b, loc, b.getI32Type(), position));
  }
  if (tables() == 2)
    for (const Tap &tap : taps)
      numbers.push_back(tap.weight);
  return numbers;
}

/// Folds an op. Its operands are constants or in `known`. Returns null if
/// folding fails.
static Attribute foldStep(Operation &step,
                          const llvm::DenseMap<Value, Attribute> &known) {
  auto constantOf = [&](Value value) {
    Attribute constant = known.lookup(value);
    if (!constant)
      matchPattern(value, m_Constant(&constant));
    return constant;
  };
  // Tries twice, because the first attempt may only move constants to the
  // right.
  for (int64_t tries = 0; tries < 2; ++tries) {
    SmallVector<Attribute> operands;
    for (Value operand : step.getOperands())
      operands.push_back(constantOf(operand));
    SmallVector<OpFoldResult> folded;
    if (failed(step.fold(operands, folded)))
      return {};
    if (folded.size() != 1)
      continue;
    auto constant = dyn_cast<Attribute>(folded[0]);
    return constant ? constant : constantOf(cast<Value>(folded[0]));
  }
  return {};
}

/// The maximum number of elements of a dimension for which the compiler
/// computes taps. It folds the elements one by one, which is much slower than a
/// run.
static constexpr int64_t kMaxElements = int64_t(1) << 16;

std::optional<std::vector<double>> TapTables::compute() {
  std::optional<int64_t> width = getConstantIntValue(size);
  if (!width || *width > kMaxElements || *width * taps() > maxBytes / 4)
    return std::nullopt;
  Block block;
  Value at = block.addArgument(b.getIndexType(), loc);
  OpBuilder inside(b.getContext());
  inside.setInsertionPointToEnd(&block);
  SmallVector<Value> results = numbersAt(inside, at);
  std::vector<double> numbers(results.size() * *width);
  for (int64_t i = 0; i < *width; ++i) {
    llvm::DenseMap<Value, Attribute> known = {{at, b.getIndexAttr(i)}};
    for (Operation &step : block) {
      Attribute constant = foldStep(step, known);
      if (!constant)
        return std::nullopt;
      known[step.getResult(0)] = constant;
    }
    for (auto [row, result] : llvm::enumerate(results)) {
      Attribute number = known.lookup(result);
      auto integer = dyn_cast<IntegerAttr>(number);
      numbers[row * *width + i] =
          integer ? double(integer.getInt())
                  : cast<FloatAttr>(number).getValueAsDouble();
    }
  }
  return numbers;
}

/// Makes the tables constants. Returns false if they must be made at run time.
bool TapTables::createNow() {
  std::optional<std::vector<double>> numbers = compute();
  if (!numbers)
    return false;
  int64_t width = *getConstantIntValue(size), each = taps() * width;
  for (int64_t i = 0; i < tables(); ++i)
    (i == 0 ? positions : weights) = nn::makeConstant(
        b, loc, RankedTensorType::get({taps(), width}, typeOfRow(i)),
        ArrayRef(*numbers).slice(i * each, each));
  return true;
}

void TapTables::create() {
  if (createNow())
    return;
  SmallVector<Value> tensors;
  for (int64_t i = 0; i < tables(); ++i)
    tensors.push_back(
        empty(b, loc, {b.getIndexAttr(taps()), size}, typeOfRow(i)));
  AffineMap map = b.getMultiDimIdentityMap(2);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange(ValueRange(tensors)), ValueRange(), tensors,
      SmallVector<AffineMap>(tensors.size(), map),
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        Scalars s{b, loc};
        Value tap = linalg::IndexOp::create(b, loc, 0);
        SmallVector<Value> numbers =
            numbersAt(b, linalg::IndexOp::create(b, loc, 1));
        SmallVector<Value> results;
        for (int64_t i = 0; i < tables(); ++i) {
          auto each = ArrayRef(numbers).slice(i * taps(), taps());
          Value found = each.back();
          for (int64_t t = taps() - 2; t >= 0; --t)
            found =
                s.choose(arith::CmpIPredicate::eq, tap, s.n(t), each[t], found);
          results.push_back(found);
        }
        linalg::YieldOp::create(b, loc, results);
      });
  positions = generic.getResult(0);
  if (tables() == 2)
    weights = generic.getResult(1);
}

SmallVector<int64_t> support::resizedDims(nn::ResizeOp op) {
  SmallVector<int64_t> resized;
  for (int64_t i = 0; i < typeOf(op.getX()).getRank(); ++i)
    if (!isCopiedDim(op, i))
      resized.push_back(i);
  return resized;
}

int64_t support::numAllTaps(nn::ResizeOp op) {
  int64_t taps = 1;
  for (size_t i = 0; i < resizedDims(op).size(); ++i)
    taps *= numTaps(op.getMode());
  return taps;
}

Reason support::whyNotResampled(nn::ResizeOp op) {
  SmallVector<int64_t> resized = resizedDims(op);
  if (resized.empty())
    return "resizes nothing";
  const int64_t count = int64_t(resized.size());
  if (resized.back() - resized.front() + 1 != count)
    return "resizes dimensions that are not neighbours";
  if (typeOf(op.getX()).getRank() == 1)
    return "resizes a vector";
  if (count > kernel::kMaxResampledDims || numAllTaps(op) > kernel::kMaxTaps)
    return "resizes " + std::to_string(count) + " dimensions of " +
           std::to_string(numTaps(op.getMode())) + " taps each";
  return std::nullopt;
}

ResampleOperands support::makeResampleOperands(OpBuilder &b, nn::ResizeOp op,
                                               bool joinsChannels,
                                               int64_t maxTableBytes) {
  Location loc = op.getLoc();
  const int64_t rank = typeOf(op.getX()).getRank();
  SmallVector<int64_t> resized = resizedDims(op);
  const int64_t last = resized.back();
  Sizes from = sizesOf(b, loc, op.getX());
  Sizes sizes = resultSizes(b, op->getResult(0));
  Scalars s{b, loc};
  ResampleOperands made;
  made.first = resized.front();
  for (int64_t i : resized) {
    const int64_t inner =
        i == last && joinsChannels
            ? productOf(op.getY().getType().getShape().drop_front(last + 1))
            : 1;
    TapTables tables{b,
                     loc,
                     samplingOf(op),
                     axisOf(s, op, i, from[i], sizes[i]),
                     mulSizes(b, loc, sizes[i], b.getIndexAttr(inner)),
                     inner,
                     maxTableBytes,
                     {},
                     {}};
    tables.create();
    made.positions.push_back(tables.positions);
    if (tables.weights)
      made.weights.push_back(tables.weights);
  }
  const int64_t joined = joinsChannels ? last : last + 1;
  Sizes dstSizes(ArrayRef<OpFoldResult>(sizes).take_front(joined));
  if (joined < rank)
    dstSizes.push_back(
        productOf(b, loc, ArrayRef<OpFoldResult>(sizes).drop_front(joined)));
  made.src = op.getX();
  if (joined < rank - 1)
    made.src = tensor::CollapseShapeOp::create(b, loc, made.src,
                                               groupsFrom(rank, joined));
  made.dst = empty(b, loc, dstSizes, b.getF32Type());
  return made;
}

Value support::splitResampled(OpBuilder &b, nn::ResizeOp op, Value result) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getY().getType();
  const int64_t rank = type.getRank(), joined = typeOf(result).getRank() - 1;
  if (joined < rank - 1) {
    Sizes sizes = resultSizes(b, op->getResult(0));
    result = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(staticShape(sizes), b.getF32Type()),
        result, groupsFrom(rank, joined), sizes);
  }
  return castTo(b, loc, result, type.clone(b.getF32Type()));
}
