//===- RequireIndices.cpp - indices that a run brings ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/RequireIndices.h"

#include "dialects/nn/Constants.h"
#include "passes/support/RunChecks.h"
#include "passes/support/Tensors.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {
/// The smallest and the largest of some indices, as i64.
struct Bounds {
  Value least, greatest;
};
} // namespace

static Value asI64(OpBuilder &b, Location loc, Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  if (value.getType().isInteger(64))
    return value;
  return arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
}

/// Scans `indices` in memory once. Returns one range per coordinate.
static SmallVector<Bounds> scanRanges(OpBuilder &b, Location loc, Value indices,
                                      int64_t coordinates) {
  RankedTensorType type = typeOf(indices);
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isSplit = coordinates > 1;
  Sizes sizes;
  if (isSplit)
    sizes.push_back(b.getIndexAttr(coordinates));
  auto start = [&](const APInt &value) {
    Value scalar =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, value));
    return support::filled(b, loc, sizes, scalar);
  };
  Value low = start(APInt::getSignedMaxValue(bits)),
        high = start(APInt::getSignedMinValue(bits));
  int64_t rank = type.getRank();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::reduction);
  AffineMap all = b.getMultiDimIdentityMap(rank),
            out = AffineMap::get(rank, 0, b.getContext());
  if (isSplit) {
    iterators.back() = utils::IteratorType::parallel;
    out = AffineMap::get(rank, 0, b.getAffineDimExpr(rank - 1));
  }
  auto scan = linalg::GenericOp::create(
      b, loc, TypeRange{low.getType(), high.getType()}, indices,
      ValueRange{low, high}, ArrayRef<AffineMap>{all, out, out}, iterators,
      [](OpBuilder &b, Location loc, ValueRange args) {
        Value least = arith::MinSIOp::create(b, loc, args[0], args[1]);
        Value greatest = arith::MaxSIOp::create(b, loc, args[0], args[2]);
        linalg::YieldOp::create(b, loc, ValueRange{least, greatest});
      });
  SmallVector<Bounds> ranges;
  for (int64_t i = 0; i < coordinates; ++i) {
    SmallVector<Value> at;
    if (isSplit)
      at.push_back(indexConstant(b, loc, i));
    auto read = [&](Value tensor) {
      return asI64(b, loc, tensor::ExtractOp::create(b, loc, tensor, at));
    };
    ranges.push_back({read(scan.getResult(0)), read(scan.getResult(1))});
  }
  return ranges;
}

/// Reads each of a few indices. Returns one range per coordinate.
static SmallVector<Bounds> readRanges(OpBuilder &b, Location loc, Value indices,
                                      int64_t coordinates) {
  RankedTensorType type = typeOf(indices);
  SmallVector<Bounds> ranges(coordinates);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> at(type.getRank());
    int64_t rest = i;
    for (int64_t d = type.getRank(); d-- > 0; rest /= type.getDimSize(d))
      at[d] = indexConstant(b, loc, rest % type.getDimSize(d));
    Value value = asI64(b, loc, tensor::ExtractOp::create(b, loc, indices, at));
    Bounds &range = ranges[i % coordinates];
    range.least = range.least
                      ? arith::MinSIOp::create(b, loc, range.least, value)
                      : value;
    range.greatest = range.greatest
                         ? arith::MaxSIOp::create(b, loc, range.greatest, value)
                         : value;
  }
  return ranges;
}

/// Returns the ranges of constant indices, one per coordinate.
static SmallVector<Bounds> knownRanges(OpBuilder &b, Location loc,
                                       ArrayRef<int64_t> values,
                                       int64_t coordinates) {
  SmallVector<Bounds> ranges;
  for (int64_t i = 0; i < coordinates; ++i) {
    int64_t least = values[i], greatest = values[i];
    for (size_t j = i; j < values.size(); j += coordinates) {
      least = std::min(least, values[j]);
      greatest = std::max(greatest, values[j]);
    }
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, loc, value, 64);
    };
    ranges.push_back({constant(least), constant(greatest)});
  }
  return ranges;
}

/// Returns true if indices are known to be within a dimension of `size`.
static bool isWithin(const Bounds &range, int64_t size) {
  auto least = getConstantIntValue(range.least),
       greatest = getConstantIntValue(range.greatest);
  return least && greatest && *least >= -size && *greatest < size;
}

void support::requireIndices(OpBuilder &b, Location loc, Value indices,
                             ArrayRef<OpFoldResult> sizes) {
  RankedTensorType type = typeOf(indices);
  int64_t coordinates = sizes.size();
  if (sizes.empty() || (type.hasStaticShape() && type.getNumElements() == 0))
    return;
  SmallVector<Bounds> ranges;
  if (auto known = nn::getConstantInts(indices))
    ranges = knownRanges(b, loc, *known, coordinates);
  else if (type.hasStaticShape() &&
           type.getNumElements() <= threshold::comparedIndices)
    ranges = readRanges(b, loc, indices, coordinates);
  else
    ranges = scanRanges(b, loc, indices, coordinates);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  for (auto [range, size] : llvm::zip_equal(ranges, sizes)) {
    auto fixed = getConstantIntValue(size);
    if (fixed && isWithin(range, *fixed))
      continue;
    Value count = asI64(b, loc, indexValue(b, loc, size));
    Value lowest = arith::SubIOp::create(b, loc, zero, count);
    Value fits = arith::AndIOp::create(
        b, loc,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, range.least,
                              lowest),
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, range.greatest,
                              count));
    std::string message = "an index is outside of the dimension it is for";
    if (fixed)
      message = "an index is outside of [" + std::to_string(-*fixed) + ", " +
                std::to_string(*fixed - 1) + "]";
    require(b, loc, fits, message);
  }
}
