//===- ResampleToCpu.cpp - resizing to cpu ops ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/BandMatMulToCpu.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/FollowImage.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/ResampleTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

namespace {

struct ResizePattern : OpRewritePattern<nn::ResizeOp> {
  ResizePattern(MLIRContext *context, int64_t maxTableBytes)
      : OpRewritePattern(context), maxTableBytes(maxTableBytes) {}
  LogicalResult matchAndRewrite(nn::ResizeOp op,
                                PatternRewriter &b) const override;

  int64_t maxTableBytes;
};

} // namespace

/// Converts sums to elements of `type`, floats or bytes. If `areBytes`, the
/// sums are already whole numbers in the range of bytes.
static Value roundTo(OpBuilder &b, RankedTensorType type, Value sums,
                     bool areBytes) {
  if (!type.getElementType().isInteger())
    return sums;
  Location loc = sums.getLoc();
  if (areBytes)
    return nn::CastOp::create(b, loc, type, sums, /*in_range=*/true);
  Value y = nn::RoundOp::create(b, loc, sums.getType(), sums);
  y = nn::ClampOp::create(b, loc, y.getType(), y, b.getF64FloatAttr(0),
                          b.getF64FloatAttr(255));
  return nn::CastOp::create(b, loc, type, y, /*in_range=*/true);
}

namespace {

/// A resize as products with banded matrices, one dimension after the other.
/// Rows of pixels with few channels thus need no permutations. No element gets
/// the same weights twice.
struct BandProducts {
  OpBuilder &b;
  nn::ResizeOp op;
  ArrayRef<int64_t> resized;
  int64_t maxTableBytes;
  Location loc = op.getLoc();
  Scalars s{b, loc};
  Sizes sizes = sizesOf(b, loc, op.getX());
  /// The result, including following ops that only move it.
  ResizedImage image{
      resultSizes(b, op->getResult(0)), resized.back(), {}, op.getY()};

  Value create();

private:
  std::optional<Band> computeBand(int64_t dim, int64_t channels);
  bool hasKnownSizes() {
    return typeOf(op.getX()).hasStaticShape() &&
           op.getY().getType().hasStaticShape();
  }
  Value multiply(Value x, int64_t dim);
};

} // namespace

/// Returns the matrix of dimension `dim`. Returns nullopt if only a run knows
/// it, or if it is too large.
std::optional<Band> BandProducts::computeBand(int64_t dim, int64_t channels) {
  RankedTensorType from = typeOf(op.getX()), to = op.getY().getType();
  if (op.mayFilter(dim) || from.isDynamicDim(dim) || to.isDynamicDim(dim))
    return std::nullopt;
  TapTables tables{b,
                   loc,
                   samplingOf(op),
                   axisOf(s, op, dim, sizes[dim], image.sizes[dim]),
                   image.sizes[dim],
                   /*inner=*/1,
                   maxTableBytes,
                   {},
                   {}};
  std::optional<std::vector<double>> numbers = tables.compute();
  if (!numbers)
    return std::nullopt;
  int64_t rows = to.getDimSize(dim), columns = from.getDimSize(dim),
          taps = numTaps(op.getMode());
  SmallVector<std::pair<int64_t, double>> row(taps);
  return makeBand(rows, columns, channels, columns, [&](int64_t at) {
    for (int64_t tap = 0; tap < taps; ++tap)
      row[tap] = {int64_t((*numbers)[tap * rows + at]),
                  (*numbers)[(taps + tap) * rows + at]};
    return BandElements(row);
  });
}

/// Multiplies dimension `dim` of x. Returns null if a dimension of known size
/// has no matrix.
Value BandProducts::multiply(Value x, int64_t dim) {
  int64_t rank = sizes.size(), behind = dim + 1;
  int64_t channels =
      support::productOf(staticShape(ArrayRef(sizes).drop_front(behind)));
  std::optional<Band> band = computeBand(dim, channels);
  if (!band && hasKnownSizes() && !op.mayFilter(dim))
    return {};
  // Joins all dimensions behind `dim` into one of channels.
  if (behind < rank - 1) {
    Sizes joined(ArrayRef(sizes).take_front(behind));
    joined.push_back(
        support::productOf(b, loc, ArrayRef(sizes).drop_front(behind)));
    x = support::reshape(b, loc, x, joined);
  }
  bool isLast = dim == resized.back();
  ArrayRef<int64_t> order;
  TakenRows rows{0, 1, image.sizes[dim]};
  if (isLast) {
    order = image.order;
    rows = image.rows();
  }
  cpu::BandMatMulOp product;
  if (band) {
    if (isLast)
      band->takeRows(rows.first, rows.step, *getConstantIntValue(rows.count));
    product = multiplyByBand(b, loc, x, dim, *band, order);
  } else {
    Sizes results = resultSizes(b, op->getResult(0));
    ResampledBand tables = makeResampledBand(
        {b, loc}, samplingOf(op), axisOf(s, op, dim, sizes[dim], results[dim]),
        op.mayFilter(dim), cpu::bandUnit(channels), rows);
    product = multiplyByBand(
        b, loc, x, dim, {tables.starts, tables.weights, rows.count}, order);
  }
  sizes[dim] = rows.count;
  Value y = product.getResult();
  return behind < rank - 1 ? support::reshape(b, loc, y, sizes) : y;
}

/// Returns the value of `image`. Returns null if the op has known sizes, but
/// a dimension has no matrix.
Value BandProducts::create() {
  if (op.getAntialias())
    followMovements(image);
  Value y = withoutCast(op.getX());
  if (typeOf(y).getShape() != typeOf(op.getX()).getShape()) {
    // Keeps the cast and the reshapes of the operand if sizes are dynamic,
    // because such tensors are not reshaped.
    y = hasKnownSizes() ? support::reshape(b, loc, y, sizes) : op.getX();
  }
  for (int64_t dim : resized) {
    y = multiply(y, dim);
    if (!y)
      return {};
  }
  return castTo(b, loc, y, image.type().clone(b.getF32Type()));
}

LogicalResult ResizePattern::matchAndRewrite(nn::ResizeOp op,
                                             PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  Location loc = op.getLoc();
  RankedTensorType type = op.getY().getType();
  int64_t rank = type.getRank();
  SmallVector<int64_t> resized = resizedDims(op);
  int64_t last = resized.back();
  int64_t channels = support::productOf(type.getShape().drop_front(last + 1));
  bool areFew = last != rank - 1 && last != 0 &&
                ShapedType::isStatic(channels) &&
                channels < cpu::threshold::resizedChannels;
  if (op.getAntialias() || (areFew && channels > 1 &&
                            op.getMode() != nn::ResizeMode::nearest)) {
    BandProducts products{b, op, resized, maxTableBytes};
    if (Value y = products.create()) {
      // Leaves the unused ops in between to be erased after the walk.
      if (products.image.value != op.getY()) {
        b.replaceAllUsesWith(products.image.value, y);
        y = destinationOf(b, op->getResult(0));
      } else {
        y = roundTo(b, type, y, /*areBytes=*/false);
      }
      b.replaceOp(op, y);
      return success();
    }
  }
  ResampleOperands operands =
      makeResampleOperands(b, op, /*joinsChannels=*/areFew, maxTableBytes);
  auto kernel = cpu::ResampleOp::create(
      b, loc, operands.dst.getType(), operands.src, operands.positions,
      operands.weights, ValueRange(), operands.dst, uint64_t(operands.first),
      /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel);
  Value y = splitResampled(b, op, kernel.getResult());
  bool isNearest = op.getMode() == nn::ResizeMode::nearest;
  b.replaceOp(op, roundTo(b, type, y, isNearest));
  return success();
}

void cpu::populateResampleToCpu(RewritePatternSet &patterns,
                                int64_t maxTableBytes) {
  patterns.add<ResizePattern>(patterns.getContext(), maxTableBytes);
}
