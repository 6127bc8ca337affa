//===- BandMatMulToCpu.cpp - products of banded matrices to cpu ops -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A resize with a filter multiplies each dimension by a constant banded matrix:
// the nonzero elements of each row are few and neighbours. The product gets the
// shape of the image, so that the following ops become its epilogue. If a slice
// or a reordering of channels follows, the product computes only these rows and
// channels, in this order.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/BandMatMulToCpu.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/FollowImage.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Tensors.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cstring>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

namespace {

/// A constant f32 matrix, or its transpose.
struct Matrix {
  std::vector<char> storage;
  ArrayRef<char> bytes;
  int64_t rows, columns, rowStride, columnStride;

  float at(int64_t row, int64_t column) const {
    float element;
    int64_t index = row * rowStride + column * columnStride;
    std::memcpy(&element, bytes.data() + index * sizeof(float),
                sizeof(float));
    return element;
  }
};

/// A banded factor of a product.
struct BandFactor {
  /// True if the band is the left factor.
  bool isLeft;
  Band band;
};

} // namespace

std::optional<Band> cpu::makeBand(int64_t rows, int64_t columns,
                                  int64_t channels, int64_t most,
                                  function_ref<BandElements(int64_t)> rowAt) {
  int64_t taps = 1;
  Band band{columns, 0, {}, {}};
  for (int64_t row = 0; row < rows; ++row) {
    int64_t first = columns, end = 0;
    for (auto [column, weight] : rowAt(row)) {
      first = std::min(first, column);
      end = std::max(end, column + 1);
    }
    taps = std::max(taps, end - first);
    band.starts.push_back(first);
    if (taps > most)
      return std::nullopt;
  }
  band.taps = llvm::alignTo(taps, cpu::bandUnit(channels));
  if (band.taps > std::min(most, columns))
    return std::nullopt;
  band.weights.assign(rows * band.taps, 0);
  for (auto [row, start] : llvm::enumerate(band.starts)) {
    // Moves the start of a row so that its taps do not reach beyond the last
    // column.
    start = std::min(start, columns - band.taps);
    for (auto [column, weight] : rowAt(row))
      band.weights[row * band.taps + column - start] += weight;
  }
  return band;
}

cpu::BandMatMulOp cpu::multiplyByBand(OpBuilder &b, Location loc, Value x,
                                      int64_t dim, const Band &band,
                                      ArrayRef<int64_t> order) {
  Value starts = nn::makeConstant(
      b, loc, RankedTensorType::get({band.rows()}, b.getI32Type()),
      SmallVector<double>(band.starts.begin(), band.starts.end()));
  Value weights = nn::makeConstant(
      b, loc, RankedTensorType::get({band.rows(), band.taps}, b.getF32Type()),
      band.weights);
  return multiplyByBand(b, loc, x, dim,
                        {starts, weights, b.getIndexAttr(band.rows())}, order);
}

cpu::BandMatMulOp cpu::multiplyByBand(OpBuilder &b, Location loc, Value x,
                                      int64_t dim, const BandTables &band,
                                      ArrayRef<int64_t> order) {
  Sizes sizes = sizesOf(b, loc, x);
  sizes[dim] = band.rows;
  Value dst = empty(b, loc, sizes, b.getF32Type());
  auto kernel = cpu::BandMatMulOp::create(
      b, loc, dst.getType(), x, band.starts, band.weights, ValueRange(), dst,
      dim, order.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(order),
      /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel);
  return kernel;
}

void Band::takeRows(int64_t first, int64_t step, int64_t count) {
  SmallVector<int64_t> newStarts;
  std::vector<double> newWeights;
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = first + i * step;
    newStarts.push_back(starts[row]);
    newWeights.insert(newWeights.end(), weights.begin() + row * taps,
                      weights.begin() + (row + 1) * taps);
  }
  starts = std::move(newStarts);
  weights = std::move(newWeights);
}

static std::optional<Matrix> readMatrix(Value value, bool isTransposed) {
  ElementsAttr attr = nn::getConstant(value);
  RankedTensorType type = typeOf(value);
  if (!attr || type.getRank() != 2 || !type.getElementType().isF32() ||
      type.getNumElements() == 0)
    return std::nullopt;
  Matrix matrix;
  auto bytes = nn::getRawBytes(attr, matrix.storage);
  if (!bytes)
    return std::nullopt;
  matrix.bytes = *bytes;
  matrix.rows = type.getDimSize(0), matrix.columns = type.getDimSize(1);
  matrix.rowStride = matrix.columns, matrix.columnStride = 1;
  if (isTransposed) {
    std::swap(matrix.rows, matrix.columns);
    std::swap(matrix.rowStride, matrix.columnStride);
  }
  return matrix;
}

/// Returns the maximum number of taps for which a banded product is faster than
/// a dense one. Products with a single channel keep a vector of partial sums.
/// Adding up that vector at the end takes as long as several products.
static int64_t mostTaps(int64_t columns, int64_t channels) {
  if (channels == 1)
    return (columns - cpu::threshold::bandFreeColumns) / 2;
  return columns /
         (channels > 0 && channels <= cpu::threshold::bandFewChannels ? 2 : 3);
}

/// Reads the elements of a row from the first to the last that is not 0.
/// Returns false if there are more than `most`.
static bool readRow(const Matrix &matrix, int64_t row, int64_t most,
                    SmallVectorImpl<std::pair<int64_t, double>> &elements) {
  int64_t first = 0, end = matrix.columns;
  while (first < end && matrix.at(row, first) == 0)
    ++first;
  while (first < end && matrix.at(row, end - 1) == 0)
    --end;
  if (end - first > most)
    return false;
  for (int64_t column = first; column < end; ++column)
    elements.push_back({column, matrix.at(row, column)});
  return true;
}

static std::optional<BandFactor> findBand(nn::MatMulOp op) {
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  RankedTensorType y = typeOf(op.getY());
  if (op.getBias() || a.getRank() < 2 || b.getRank() < 2 ||
      !a.getElementType().isF32() || !b.getElementType().isF32() ||
      !y.getElementType().isF32())
    return std::nullopt;
  for (bool isLeft : {true, false}) {
    RankedTensorType x = isLeft ? b : a;
    // Requires that the other factor, x, is not transposed and has the rank of
    // the result. The kernel cannot read it otherwise.
    if ((isLeft ? op.getTransposeB() : op.getTransposeA()) ||
        x.getRank() != y.getRank())
      continue;
    std::optional<Matrix> matrix =
        isLeft ? readMatrix(op.getA(), op.getTransposeA())
               : readMatrix(op.getB(), !op.getTransposeB());
    int64_t channels = isLeft ? y.getShape().back() : 1;
    if (!matrix || channels == 0)
      continue;
    int64_t most = mostTaps(matrix->columns, channels);
    SmallVector<SmallVector<std::pair<int64_t, double>>> rows(matrix->rows);
    bool isBand = true;
    for (int64_t row = 0; isBand && row < matrix->rows; ++row)
      isBand = readRow(*matrix, row, most, rows[row]);
    if (!isBand)
      continue;
    auto rowAt = [&](int64_t row) { return BandElements(rows[row]); };
    if (auto band =
            makeBand(matrix->rows, matrix->columns, channels, most, rowAt))
      return BandFactor{isLeft, std::move(*band)};
  }
  return std::nullopt;
}

bool cpu::isBandMatMul(nn::MatMulOp op) { return findBand(op).has_value(); }

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

namespace {

struct BandMatMulPattern : OpRewritePattern<nn::MatMulOp> {
  // Sets a benefit that is higher than that of the pattern for dense products.
  BandMatMulPattern(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &b) const override;
};

} // namespace

static Value skipReshapes(Value value) {
  while (isa_and_nonnull<nn::ReshapeOp, tensor::CollapseShapeOp,
                         tensor::ExpandShapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value cpu::withoutCast(Value x) {
  x = skipReshapes(x);
  auto cast = x.getDefiningOp<nn::CastOp>();
  if (!cast || !typeOf(cast.getX()).getElementType().isUnsignedInteger(8))
    return x;
  return skipReshapes(cast.getX());
}

LogicalResult
BandMatMulPattern::matchAndRewrite(nn::MatMulOp op, PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  std::optional<BandFactor> factor = findBand(op);
  if (!factor)
    return b.notifyMatchFailure(op, "has no banded factor");
  Location loc = op.getLoc();
  int64_t fromEnd = factor->isLeft ? 2 : 1;
  ResizedImage image{resultSizes(b, op->getResult(0)),
                     typeOf(op.getY()).getRank() - fromEnd,
                     {},
                     op.getY()};
  followReshape(b, image);
  followMovements(image);
  factor->band.takeRows(image.firstRow, image.rowStep,
                        *getConstantIntValue(image.sizes[image.dim]));
  ArrayRef<OpFoldResult> sizes(image.sizes);
  // Joins all dimensions behind `dim` into one of channels.
  Sizes srcSizes(sizes.take_front(image.dim + 1));
  srcSizes[image.dim] = b.getIndexAttr(factor->band.columns);
  if (sizes.size() > srcSizes.size())
    srcSizes.push_back(
        support::productOf(b, loc, sizes.drop_front(image.dim + 1)));
  Value x = factor->isLeft ? op.getB() : op.getA();
  // Keeps the cast and the reshapes of x if several sizes are dynamic, because
  // such tensors are not reshaped.
  if (llvm::count(staticShape(srcSizes), ShapedType::kDynamic) <= 1)
    x = withoutCast(x);
  auto kernel = multiplyByBand(b, loc, support::reshape(b, loc, x, srcSizes),
                               image.dim, factor->band, image.order);
  Value y = castTo(b, loc, support::reshape(b, loc, kernel.getResult(), sizes),
                   image.type());
  if (image.value == op.getY()) {
    b.replaceOp(op, y);
    return success();
  }
  // Leaves the unused ops in between to be erased after the walk.
  b.replaceAllUsesWith(image.value, y);
  b.replaceOp(op, destinationOf(b, op->getResult(0)));
  return success();
}

void cpu::populateBandMatMulToCpu(RewritePatternSet &patterns) {
  patterns.add<BandMatMulPattern>(patterns.getContext());
}
