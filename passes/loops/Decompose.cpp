//===- Decompose.cpp - normalizations as reductions and arithmetic --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the nn ops that no kernel took as simpler nn ops, which nn-to-linalg
// lowers. Floats narrower than f32 are widened first and narrowed last.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/loops/NNMaker.h"
#include "passes/loops/Patterns.h"
#include "passes/support/Lowering.h"
#include "passes/support/PackedRange.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::loops;
using namespace ingot::support;

using nn::ReduceKind;

namespace {

/// Builds parts of normalizations.
struct Maker : NNMaker {
  /// Sums axis by axis to reduce rounding errors. A sum of n values in sequence
  /// may have an error of n ulps. If sums of rows are added, the error has only
  /// as many ulps as there are rows.
  Value reduce(Value x, ReduceKind kind, ArrayRef<int64_t> axes,
               bool keepDims = true) {
    if (axes.size() <= 1 || !isSum(kind) ||
        !isa<Float32Type, Float64Type>(typeOf(x).getElementType()))
      return make<nn::ReduceOp>(x, kind, axes, keepDims);
    Value rows = make<nn::ReduceOp>(x, kind, axes.back(), keepDims);
    ReduceKind rest = kind == ReduceKind::sum_square ? ReduceKind::sum : kind;
    return reduce(rows, rest, axes.drop_back(), keepDims);
  }
  static bool isSum(ReduceKind kind) {
    return kind == ReduceKind::sum || kind == ReduceKind::mean ||
           kind == ReduceKind::sum_square;
  }
  /// Returns (x - mean) / sqrt(variance + epsilon) over axes.
  Value standardize(Value x, ArrayRef<int64_t> axes, double epsilon) {
    Value centered = make<nn::SubOp>(x, reduce(x, ReduceKind::mean, axes));
    Value squares = make<nn::MulOp>(centered, centered);
    Value variance = reduce(squares, ReduceKind::mean, axes);
    return make<nn::MulOp>(centered, inverseRoot(variance, epsilon));
  }
  /// Returns 1 / sqrt(x + epsilon).
  Value inverseRoot(Value x, double epsilon) {
    Type type = typeOf(x).getElementType();
    Value shifted = make<nn::AddOp>(x, scalar(type, epsilon));
    return make<nn::ReciprocalOp>(make<nn::SqrtOp>(shifted));
  }
  /// Reshapes a vector over the channels so that it broadcasts to data of
  /// `rank`.
  Value channelVector(Value v, int64_t rank, bool channelsLast) {
    if (channelsLast)
      return v;
    SmallVector<int64_t> shape(rank - 1, 1);
    shape[0] = typeOf(v).getDimSize(0);
    return make<nn::ReshapeOp>(typeOf(v).clone(shape), v);
  }
};

} // namespace

static Type computeElement(Value x) {
  return computeType(typeOf(x).getElementType());
}

static SmallVector<int64_t> axesFrom(int64_t axis, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rank));
}

static Value decompose(Maker b, nn::SoftmaxOp op) {
  Value x = b.cast(op.getX(), computeElement(op.getX()));
  int64_t axis = op.getAxis();
  Value shifted = b.make<nn::SubOp>(x, b.reduce(x, ReduceKind::max, axis));
  Value powers = b.make<nn::ExpOp>(shifted);
  Value sum = b.reduce(powers, ReduceKind::sum, axis);
  if (op.getLog())
    return b.make<nn::SubOp>(shifted, b.make<nn::LogOp>(sum));
  return b.make<nn::DivOp>(powers, sum);
}

static Value decompose(Maker b, nn::LayerNormOp op) {
  Type type = computeElement(op.getX());
  Value x = b.cast(op.getX(), type);
  Value y = b.standardize(x, axesFrom(op.getAxis(), typeOf(x).getRank()),
                          op.getEpsilon().convertToDouble());
  if (Value scale = op.getScale())
    y = b.make<nn::MulOp>(y, b.cast(scale, type));
  if (Value bias = op.getBias())
    y = b.make<nn::AddOp>(y, b.cast(bias, type));
  return y;
}

static Value decompose(Maker b, nn::RMSNormOp op) {
  Type type = computeElement(op.getX());
  Value x = b.cast(op.getX(), type);
  auto axes = axesFrom(op.getAxis(), typeOf(x).getRank());
  Value square = b.reduce(b.make<nn::MulOp>(x, x), ReduceKind::mean, axes);
  Value factor = b.inverseRoot(square, op.getEpsilon().convertToDouble());
  return b.make<nn::MulOp>(b.make<nn::MulOp>(x, factor),
                           b.cast(op.getScale(), type));
}

static Value decompose(Maker b, nn::BatchNormOp op) {
  Type type = computeElement(op.getX());
  Value x = b.cast(op.getX(), type);
  auto wide = [&](Value v) { return b.cast(v, type); };
  Value factor = b.make<nn::MulOp>(
      wide(op.getScale()),
      b.inverseRoot(wide(op.getVariance()), op.getEpsilon().convertToDouble()));
  Value shift = b.make<nn::SubOp>(
      wide(op.getBias()), b.make<nn::MulOp>(wide(op.getMean()), factor));
  int64_t rank = typeOf(x).getRank();
  bool last = op.getChannelsLast();
  Value scaled = b.make<nn::MulOp>(x, b.channelVector(factor, rank, last));
  return b.make<nn::AddOp>(scaled, b.channelVector(shift, rank, last));
}

/// Splits the channels of x into groups, or merges the groups again.
static Value regroup(Maker b, Value x, RankedTensorType type,
                     int64_t channelDim, bool split) {
  if (type.getNumDynamicDims() <= 1 && typeOf(x).getNumDynamicDims() <= 1)
    return b.make<nn::ReshapeOp>(type, x);
  int64_t rank = std::min(type.getRank(), typeOf(x).getRank());
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0, at = 0; d < rank; ++d) {
    groups.push_back({at++});
    if (d == channelDim)
      groups.back().push_back(at++);
  }
  if (split)
    return b.make<tensor::ExpandShapeOp>(type, x, groups);
  return b.make<tensor::CollapseShapeOp>(type, x, groups);
}

static Value decompose(Maker b, nn::GroupNormOp op) {
  Type type = computeElement(op.getX());
  Value x = b.cast(op.getX(), type);
  RankedTensorType shape = typeOf(x);
  bool last = op.getChannelsLast();
  int64_t rank = shape.getRank(), channelDim = last ? rank - 1 : 1;
  int64_t groups = op.getGroups(), channels = shape.getDimSize(channelDim);
  double epsilon = op.getEpsilon().convertToDouble();
  int64_t scales = typeOf(op.getScale()).getDimSize(0);
  if (ShapedType::isDynamic(channels) && !ShapedType::isDynamic(scales)) {
    // There is one scale per channel.
    SmallVector<int64_t> known(shape.getShape());
    known[channelDim] = channels = scales;
    shape = shape.clone(known);
    x = b.make<tensor::CastOp>(shape, x);
  }
  Value y;
  if (channels == groups) {
    SmallVector<int64_t> axes;
    for (int64_t d = 1; d < rank; ++d)
      if (d != channelDim)
        axes.push_back(d);
    y = b.standardize(x, axes, epsilon);
  } else {
    if (ShapedType::isDynamic(channels))
      return {};
    SmallVector<int64_t> split(shape.getShape());
    split[channelDim] = groups;
    split.insert(split.begin() + channelDim + 1, channels / groups);
    SmallVector<int64_t> axes;
    for (int64_t d = 1; d <= rank; ++d)
      if (d != channelDim)
        axes.push_back(d);
    Value grouped = regroup(b, x, shape.clone(split), channelDim, true);
    y = regroup(b, b.standardize(grouped, axes, epsilon), shape, channelDim,
                false);
  }
  Value scale = b.channelVector(b.cast(op.getScale(), type), rank, last);
  Value bias = b.channelVector(b.cast(op.getBias(), type), rank, last);
  return b.make<nn::AddOp>(b.make<nn::MulOp>(y, scale), bias);
}

/// Decomposes LRN. The sum of squares over neighbouring channels is a sum of
/// shifted windows of the padded squares.
static Value decompose(Maker b, nn::LRNOp op) {
  Type type = computeElement(op.getX());
  Value x = b.cast(op.getX(), type);
  RankedTensorType shape = typeOf(x);
  int64_t rank = shape.getRank(), size = op.getSize();
  int64_t channelDim = op.getChannelsLast() ? rank - 1 : 1;
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  low[channelDim] = (size - 1) / 2;
  high[channelDim] = size - 1 - low[channelDim];
  Value padded = b.make<nn::PadOp>(b.make<nn::MulOp>(x, x), b.scalar(type, 0),
                                   low, high, nn::PadMode::constant);
  SmallVector<int64_t> starts(rank, 0), sizes(shape.getShape()), steps(rank, 1);
  for (int64_t &extent : sizes)
    if (ShapedType::isDynamic(extent))
      extent = -1;
  Value sum;
  for (int64_t i = 0; i < size; ++i) {
    Value window;
    if (shape.isDynamicDim(channelDim)) {
      // Describe a window by the numbers of channels that are cut off at both
      // ends, because the number of channels is unknown.
      low[channelDim] = -i;
      high[channelDim] = i + 1 - size;
      window = b.make<nn::PadOp>(padded, b.scalar(type, 0), low, high,
                                 nn::PadMode::constant);
    } else {
      starts[channelDim] = i;
      window = b.make<nn::SliceOp>(padded, starts, sizes, steps);
    }
    sum = sum ? b.make<nn::AddOp>(sum, window) : window;
  }
  double alpha = op.getAlpha().convertToDouble() / double(size);
  double beta = op.getBeta().convertToDouble();
  Value base = b.make<nn::AddOp>(b.make<nn::MulOp>(sum, b.scalar(type, alpha)),
                                 b.scalar(type, op.getK().convertToDouble()));
  // The usual exponent needs two square roots only: b^(3/4) = sqrt(b sqrt(b)).
  Value power;
  if (beta == 0.75)
    power =
        b.make<nn::SqrtOp>(b.make<nn::MulOp>(base, b.make<nn::SqrtOp>(base)));
  else
    power = b.make<nn::PowOp>(base, b.scalar(type, beta));
  return b.make<nn::DivOp>(x, power);
}

//===----------------------------------------------------------------------===//
// Products of bytes
//===----------------------------------------------------------------------===//

/// Returns the data of a convolution of bytes or int16 values as i32, less the
/// zero point. Returns null for other types.
template <typename Op>
static Value widenData(Maker b, Op op) {
  if (!nn::isInt8OrInt16(typeOf(op.getX()).getElementType()))
    return {};
  Type wide = b.b.getI32Type();
  Value x = b.cast(op.getX(), wide);
  if (int64_t zero = op.getXZeroPoint())
    x = b.make<nn::SubOp>(x, b.scalar(wide, zero));
  return x;
}

/// Writes a convolution of bytes or int16 values that no kernel took as matrix
/// products.
static Value decompose(Maker b, nn::ConvOp op) {
  Value x = widenData(b, op);
  if (!x)
    return {};
  return b.make<nn::ConvOp>(op.getType(), x,
                            b.cast(op.getW(), b.b.getI32Type()), op.getBias(),
                            op.getStrides(), op.getPads(), op.getDilations(),
                            op.getGroups(), op.getChannelsLast());
}

static Value decompose(Maker b, nn::ConvTransposeOp op) {
  Value x = widenData(b, op);
  if (!x)
    return {};
  return b.make<nn::ConvTransposeOp>(
      op.getType(), x, b.cast(op.getW(), b.b.getI32Type()), op.getBias(),
      op.getStrides(), op.getPads(), op.getDilations(), op.getOutputPadding(),
      op.getGroups(), op.getChannelsLast());
}

/// Widens bytes to int16 where matmul becomes a contraction.
static Value decompose(Maker b, nn::MatMulOp op) {
  Type left = typeOf(op.getA()).getElementType(),
       right = typeOf(op.getB()).getElementType();
  if (!nn::isInt8OrInt16(left) || (nn::isByte(left) && nn::isByte(right)))
    return {};
  Type wide = b.b.getI32Type();
  return b.make<nn::MatMulOp>(op.getType(), b.cast(op.getA(), wide),
                              b.cast(op.getB(), wide), op.getBias(),
                              op.getTransposeA(), op.getTransposeB());
}

/// Rounds a as `nn.packed_matmul` does. Rounds block by block, because the
/// number of rows may be dynamic and the last block may be short.
static Value roundBlocks(Maker b, nn::PackedMatMulOp op) {
  Value a = op.getA();
  RankedTensorType type = typeOf(a);
  Type real = type.getElementType();
  int64_t depth = op.getDepth(), last = type.getRank() - 1;
  int64_t block = std::min<int64_t>(op.getBlockSize(), depth);
  Value most = b.scalar(real, 127);
  const double least = 127 / support::kMaxBlockFactor,
               greatest = std::numeric_limits<float>::max();
  auto clamp = [&](Value x, double low) -> Value {
    return b.make<nn::ClampOp>(x, b.b.getF64FloatAttr(low),
                               b.b.getF64FloatAttr(greatest));
  };
  SmallVector<Value> rounded;
  for (int64_t from = 0; from < depth; from += block) {
    SmallVector<int64_t> starts(last + 1, 0), sizes, steps(last + 1, 1);
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
    starts[last] = from;
    sizes[last] = std::min(block, depth - from);
    Value x = b.make<nn::SliceOp>(a, starts, sizes, steps);
    Value finite = clamp(x, -greatest);
    Value largest =
        clamp(b.make<nn::ReduceOp>(b.make<nn::AbsOp>(finite), ReduceKind::max,
                                   last, /*keep_dims=*/true),
              least);
    Value numbers = b.make<nn::RoundOp>(
        b.make<nn::MulOp>(finite, b.make<nn::DivOp>(most, largest)));
    Value near = b.make<nn::MulOp>(numbers, b.make<nn::DivOp>(largest, most));
    // Keeps infinities and NaN.
    rounded.push_back(b.make<nn::AddOp>(near, b.make<nn::SubOp>(x, finite)));
  }
  return rounded.size() == 1 ? rounded.front()
                             : b.make<nn::ConcatOp>(rounded, last);
}

/// Unpacks all weights in every run.
static Value decompose(Maker b, nn::PackedMatMulOp op) {
  RankedTensorType codes = typeOf(op.getCodes());
  Type byte = codes.getElementType(), real = typeOf(op.getA()).getElementType();
  int64_t columns = codes.getDimSize(0), blocks = codes.getDimSize(1),
          bytes = codes.getDimSize(2), bits = op.getBits(),
          perByte = 8 / bits, stored = bytes * perByte;
  std::vector<double> amounts;
  for (int64_t i = 0; i < perByte; ++i)
    amounts.push_back(double(i * bits));
  Value shifts = nn::makeConstant(b.b, b.loc,
                                  RankedTensorType::get(perByte, byte),
                                  amounts);
  Value each = b.make<nn::ReshapeOp>(
      codes.clone({columns, blocks, bytes, 1}), op.getCodes());
  auto split = codes.clone({columns, blocks, bytes, perByte});
  each = b.make<nn::ShiftRightOp>(split, each, shifts);
  each = b.make<nn::AndOp>(split, each,
                           b.scalar(byte, double((1 << bits) - 1)));
  auto whole = RankedTensorType::get({columns, blocks, stored}, real);
  Value w = b.cast(b.make<nn::ReshapeOp>(whole.clone(byte), each), real);
  auto perBlock = [&](Value value) {
    auto type = RankedTensorType::get({columns, blocks, 1}, real);
    return b.make<nn::ReshapeOp>(type, b.cast(value, real));
  };
  Value zeros = op.getZeroPoints();
  w = b.make<nn::SubOp>(whole, w,
                        zeros ? perBlock(zeros)
                              : b.scalar(real, double(1 << (bits - 1))));
  w = b.make<nn::MulOp>(whole, w, perBlock(op.getScales()));
  // Unpack each block separately, since a block may end within a byte.
  int64_t block = std::min<int64_t>(op.getBlockSize(), stored);
  SmallVector<int64_t> starts(3, 0), steps(3, 1);
  w = b.make<nn::SliceOp>(w, starts, ArrayRef<int64_t>{columns, blocks, block},
                          steps);
  w = b.make<nn::ReshapeOp>(
      RankedTensorType::get({columns, blocks * block}, real), w);
  starts.pop_back();
  steps.pop_back();
  w = b.make<nn::SliceOp>(
      w, starts, ArrayRef<int64_t>{columns, int64_t(op.getDepth())}, steps);
  Value a = op.getRoundsA() ? roundBlocks(b, op) : op.getA();
  return b.make<nn::MatMulOp>(op.getType(), a, w, /*bias=*/Value(),
                              /*transpose_a=*/false, /*transpose_b=*/true);
}

namespace {
template <typename Op>
struct Decompose : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Maker builder{rewriter, op.getLoc()};
    Value y = decompose(builder, op);
    if (!y)
      return rewriter.notifyMatchFailure(op, "not decomposable");
    RankedTensorType type = typeOf(op.getY());
    y = builder.cast(y, type.getElementType());
    if (y.getType() != type)
      y = tensor::CastOp::create(rewriter, op.getLoc(), type, y);
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// Decomposes a sum over several axes; see Maker::reduce.
struct DecomposeReduce : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &rewriter) const override {
    Type element = typeOf(op.getX()).getElementType();
    if (op.getAxes().size() <= 1 || !Maker::isSum(op.getKind()) ||
        !isa<Float32Type, Float64Type>(element))
      return rewriter.notifyMatchFailure(
          op, "is not a sum of f32 or f64 along several dimensions");
    Maker builder{rewriter, op.getLoc()};
    Value y =
        builder.reduce(op.getX(), op.getKind(), op.getAxes(), op.getKeepDims());
    rewriter.replaceOp(
        op, support::castTo(rewriter, op.getLoc(), y, op.getY().getType()));
    return success();
  }
};

/// Removes the transposes around a pooling that no kernel took. Such a pooling
/// does not gain from channels in the last dimension. A pooling of bytes keeps
/// its transposes, because whole vectors of channels are faster than every
/// second byte of a row.
template <typename Op>
struct PoolChannelsFirst : OpRewritePattern<nn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::TransposeOp back,
                                PatternRewriter &rewriter) const override {
    auto op = back.getX().getDefiningOp<Op>();
    if (!op || !op.getChannelsLast() || !op->hasOneUse())
      return rewriter.notifyMatchFailure(back, "is not behind a pooling alone");
    if (typeOf(op).getElementTypeBitWidth() < 32)
      return rewriter.notifyMatchFailure(back, "moves bytes");
    auto before = op.getX().template getDefiningOp<nn::TransposeOp>();
    ArrayRef<int64_t> perm = back.getPerm();
    int64_t rank = perm.size();
    // Maps dimensions: result dimension i is dimension perm[i] of the pooling.
    // The last dimension of the pooling is channels.
    auto isMoved = [&](int64_t i) {
      int64_t last = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
      return perm[i] == last && before.getPerm()[last] == i;
    };
    if (!before || !llvm::all_of(llvm::seq<int64_t>(0, rank), isMoved))
      return rewriter.notifyMatchFailure(back, "moves more than channels");
    auto pool = cast<Op>(rewriter.clone(*op));
    pool.getXMutable().assign(before.getX());
    pool.setChannelsLast(false);
    pool.getY().setType(back.getType());
    rewriter.replaceOp(back, pool);
    return success();
  }
};
} // namespace

void loops::populateDecompositions(RewritePatternSet &patterns) {
  patterns.add<PoolChannelsFirst<nn::AvgPoolOp>,
               PoolChannelsFirst<nn::MaxPoolOp>, DecomposeReduce,
               Decompose<nn::SoftmaxOp>, Decompose<nn::LayerNormOp>,
               Decompose<nn::RMSNormOp>, Decompose<nn::BatchNormOp>,
               Decompose<nn::ConvOp>, Decompose<nn::ConvTransposeOp>,
               Decompose<nn::MatMulOp>, Decompose<nn::PackedMatMulOp>,
               Decompose<nn::GroupNormOp>, Decompose<nn::LRNOp>>(
      patterns.getContext());
}
