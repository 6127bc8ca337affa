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
#include "passes/support/Resampling.h"

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

/// The taps of a resized dimension of `size` elements. An element here is a run
/// of `inner` neighbouring elements, which are resampled together.
struct TapTables {
  OpBuilder &b;
  Location loc;
  Sampling sampling;
  ResampledAxis axis;
  OpFoldResult size;
  int64_t inner;
  int64_t maxBytes;
  /// Tensors with a row for each tap; nearest resampling has no weights.
  Value positions, weights;

  void create();
  /// Returns the rows of all tables in sequence. Returns nullopt if only a run
  /// can compute them, or if they are too large.
  std::optional<std::vector<double>> compute();

private:
  SmallVector<Value> numbersAt(OpBuilder &b, Value at);
  bool createNow();
  Type typeOfRow(int64_t i) {
    return i == 0 ? Type(b.getI32Type()) : Type(b.getF32Type());
  }
  int64_t taps() { return numTaps(sampling.mode); }
  int64_t tables() {
    return sampling.mode == nn::ResizeMode::nearest ? 1 : 2;
  }
};

} // namespace

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
            found = s.choose(arith::CmpIPredicate::eq, tap, s.n(t), each[t],
                             found);
          results.push_back(found);
        }
        linalg::YieldOp::create(b, loc, results);
      });
  positions = generic.getResult(0);
  if (tables() == 2)
    weights = generic.getResult(1);
}

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
  SmallVector<int64_t> resized;
  for (int64_t i = 0; i < rank; ++i)
    if (!isCopiedDim(op, i))
      resized.push_back(i);
  int64_t first = resized.front(), last = resized.back();
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
  Sizes from = sizesOf(b, loc, op.getX());
  Sizes sizes = resultSizes(b, op->getResult(0));
  Scalars s{b, loc};
  SmallVector<Value> positions, weights;
  for (int64_t i : resized) {
    int64_t inner = i == last && areFew ? channels : 1;
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
    positions.push_back(tables.positions);
    if (tables.weights)
      weights.push_back(tables.weights);
  }
  // Joins the dimensions behind the last resized one into channels. A few
  // channels are joined with the resized dimension instead.
  int64_t joined = areFew ? last : last + 1;
  Sizes dstSizes(ArrayRef<OpFoldResult>(sizes).take_front(joined));
  if (joined < rank)
    dstSizes.push_back(productOf(
        b, loc, ArrayRef<OpFoldResult>(sizes).drop_front(joined)));
  auto groups = groupsFrom(rank, joined);
  bool isJoined = joined < rank - 1;
  Value x = op.getX();
  if (isJoined)
    x = tensor::CollapseShapeOp::create(b, loc, x, groups);
  Value dst = empty(b, loc, dstSizes, b.getF32Type());
  auto kernel = cpu::ResampleOp::create(
      b, loc, dst.getType(), x, positions, weights, ValueRange(), dst,
      uint64_t(first), /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel);
  Value y = kernel.getResult();
  if (isJoined)
    y = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(staticShape(sizes), b.getF32Type()), y,
        groups, sizes);
  y = castTo(b, loc, y, type.clone(b.getF32Type()));
  bool isNearest = op.getMode() == nn::ResizeMode::nearest;
  b.replaceOp(op, roundTo(b, type, y, isNearest));
  return success();
}

void cpu::populateResampleToCpu(RewritePatternSet &patterns,
                                int64_t maxTableBytes) {
  patterns.add<ResizePattern>(patterns.getContext(), maxTableBytes);
}
