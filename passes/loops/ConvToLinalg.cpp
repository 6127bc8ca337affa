//===- ConvToLinalg.cpp - convolutions as direct loops --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

/// A convolution of data that is already padded.
struct DirectConv {
  /// The data, as N, C, D… or N, D…, C.
  Value x;
  /// The weights, as G, C/G, K…, O/G: output channels innermost, in the order
  /// of the loops.
  Value w;
  Value bias;
  SmallVector<int64_t> strides, dilations;
  int64_t groups;
  bool channelsLast;
};

} // namespace

/// Splits a dimension into groups and the rest.
static Value splitChannels(OpBuilder &b, Location loc, Value x, int64_t dim,
                           int64_t groups) {
  Sizes sizes = sizesOf(b, loc, x);
  SmallVector<ReassociationIndices> reassociation;
  int64_t next = 0;
  for (int64_t i = 0, e = sizes.size(); i < e; ++i) {
    reassociation.push_back({next++});
    if (i == dim)
      reassociation.back().push_back(next++);
  }
  OpFoldResult inner =
      divSizes(b, loc, sizes[dim], b.getIndexAttr(groups));
  sizes[dim] = inner;
  sizes.insert(sizes.begin() + dim, b.getIndexAttr(groups));
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, typeOf(x).getElementType()), x,
      reassociation, sizes);
}

/// Builds the loops of a convolution. With channels last, the loops are n, g,
/// all p but the last, k…, the last p, c, o. The three innermost loops are then
/// a matrix product, for which cpu-contractions-to-vector has register tiles.
/// With channels first, the loops are n, g, o, c, k…, p….
static Value buildConv(OpBuilder &b, Location loc, const DirectConv &conv,
                       RankedTensorType type) {
  int64_t n = conv.strides.size();
  bool last = conv.channelsLast;
  Value x = splitChannels(b, loc, conv.x, last ? n + 1 : 1, conv.groups);
  int64_t loops = 4 + 2 * n;
  int64_t firstP = last ? 2 : 4 + n, firstK = last ? 1 + n : 4;
  int64_t loopC = last ? loops - 2 : 3, loopO = last ? loops - 1 : 2;
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };

  // Read dynamic sizes from the padded data, so that LLVM sees that the loops
  // stay within these data. Reifying the sizes from the op would add a user of
  // the unpadded data. Padding is only fused if the unpadded data have one
  // user.
  Sizes dataSizes = sizesOf(b, loc, x), weightSizes = sizesOf(b, loc, conv.w);
  SmallVector<AffineExpr> spatialX, spatialY, kernel;
  Sizes spatialSizes;
  for (int64_t i = 0; i < n; ++i) {
    int64_t loopP = last && i == n - 1 ? loops - 3 : firstP + i;
    AffineExpr p = dim(loopP), k = dim(firstK + i);
    spatialX.push_back(p * conv.strides[i] + k * conv.dilations[i]);
    spatialY.push_back(p);
    kernel.push_back(k);
    OpFoldResult span = mulSizes(
        b, loc, subSizes(b, loc, weightSizes[2 + i], b.getIndexAttr(1)),
        b.getIndexAttr(conv.dilations[i]));
    OpFoldResult room =
        subSizes(b, loc, dataSizes[(last ? 1 : 3) + i],
                 addSizes(b, loc, span, b.getIndexAttr(1)));
    spatialSizes.push_back(
        addSizes(b, loc,
                 divSizes(b, loc, room, b.getIndexAttr(conv.strides[i])),
                 b.getIndexAttr(1)));
  }
  auto arrange = [&](AffineExpr channel, ArrayRef<AffineExpr> spatial) {
    SmallVector<AffineExpr> exprs = {dim(0)};
    if (last)
      llvm::append_range(exprs, spatial);
    exprs.append({dim(1), channel});
    if (!last)
      llvm::append_range(exprs, spatial);
    return AffineMap::get(loops, 0, exprs, b.getContext());
  };
  SmallVector<AffineExpr> weightExprs = {dim(1), dim(loopC)};
  llvm::append_range(weightExprs, kernel);
  weightExprs.push_back(dim(loopO));
  SmallVector<AffineMap> maps = {
      arrange(dim(loopC), spatialX),
      AffineMap::get(loops, 0, weightExprs, b.getContext()),
      arrange(dim(loopO), spatialY)};
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  iterators[loopC] = utils::IteratorType::reduction;
  for (int64_t i = 0; i < n; ++i)
    iterators[firstK + i] = utils::IteratorType::reduction;

  Sizes sizes = {dataSizes[0]};
  if (last)
    llvm::append_range(sizes, spatialSizes);
  sizes.append({b.getIndexAttr(conv.groups), weightSizes.back()});
  if (!last)
    llvm::append_range(sizes, spatialSizes);
  int64_t groupDim = last ? n + 1 : 1;
  Value bias = conv.bias;
  if (bias)
    bias = splitChannels(b, loc, bias, 0, conv.groups);
  Value init = startSum(b, loc, sizes, computeType(type.getElementType()), bias,
                        {groupDim, groupDim + 1});
  Value y = contract(b, loc, {x, conv.w}, init, maps, iterators);
  y = narrow(b, loc, y, type.getElementType());
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t i = 0; i < n + 3; ++i) {
    if (i == groupDim + 1)
      reassociation.back().push_back(i);
    else
      reassociation.push_back({i});
  }
  y = tensor::CollapseShapeOp::create(b, loc, y, reassociation);
  return castTo(b, loc, y, type);
}

/// Returns the pads of all dimensions, given those of the spatial ones.
static SmallVector<int64_t> allPads(ArrayRef<int64_t> spatial,
                                    bool channelsLast) {
  SmallVector<int64_t> pads(spatial.size() + 2, 0);
  llvm::copy(spatial, pads.begin() + (channelsLast ? 1 : 2));
  return pads;
}

namespace {

struct LowerConv : OpConversionPattern<nn::ConvOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ConvOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    size_t n = op.getStrides().size();
    bool last = op.getChannelsLast();
    Value x = adaptor.getX();
    DirectConv conv;
    conv.x = pad(rewriter, loc, x, allPads(op.getPads().take_front(n), last),
                 allPads(op.getPads().drop_front(n), last),
                 scalar(rewriter, loc, typeOf(x).getElementType(), 0));
    // Reshape O, C/G, K… to G, O/G, C/G, K…, then transpose to G, C/G, K…, O/G.
    Value w = splitChannels(rewriter, loc, adaptor.getW(), 0, op.getGroups());
    SmallVector<int64_t> perm = {0, 2};
    for (size_t i = 0; i < n; ++i)
      perm.push_back(3 + i);
    perm.push_back(1);
    conv.w = transpose(rewriter, loc, w, perm);
    conv.bias = adaptor.getBias();
    conv.strides.assign(op.getStrides().begin(), op.getStrides().end());
    conv.dilations.assign(op.getDilations().begin(), op.getDilations().end());
    conv.groups = op.getGroups();
    conv.channelsLast = last;
    rewriter.replaceOp(op, buildConv(rewriter, loc, conv,
                                     signless(getTypeConverter(), op)));
    return success();
  }
};

/// A convolution that computes every `stride`-th element of one dimension of a
/// transposed convolution's result. It pads the data with `low` and `high`
/// zeros. A negative number crops the data instead. It uses every `tapStep`-th
/// tap of the flipped kernel.
struct StridePhase {
  int64_t low, high, firstTap, tapStep, numTaps, dilation;
};

/// Lowers a transposed convolution to ordinary convolutions. A transposed
/// convolution is a convolution of the flipped kernel with data that has zeros
/// between its elements. Each phase of the strides becomes a separate
/// convolution, which does not multiply these zeros.
struct LowerConvTranspose : OpConversionPattern<nn::ConvTransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ConvTransposeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// Returns the phases of dimension `d`. Returns an empty list if a phase has no
/// taps. Also returns an empty list if a phase crops the data on one side only,
/// because the data may be smaller than the crop.
static SmallVector<StridePhase> phasesOf(nn::ConvTransposeOp op, size_t d) {
  constexpr int64_t kMaxPhasesOfDim = 8;
  int64_t n = op.getStrides().size();
  int64_t kernel = typeOf(op.getW()).getDimSize(2 + d);
  int64_t stride = op.getStrides()[d], dilation = op.getDilations()[d];
  int64_t reach = dilation * (kernel - 1), low = reach - op.getPads()[d];
  int64_t high = reach - op.getPads()[n + d] + op.getOutputPadding()[d];
  SmallVector<StridePhase> phases;
  if (stride > kMaxPhasesOfDim)
    return {};
  for (int64_t r = 0; r < stride; ++r) {
    // The taps of this phase, and the position in the data at which each tap
    // starts.
    SmallVector<int64_t> taps, starts;
    for (int64_t tap = 0; tap < kernel; ++tap)
      if (int64_t at = r + tap * dilation - low; at % stride == 0) {
        taps.push_back(tap);
        starts.push_back(at / stride);
      }
    if (taps.empty())
      return {};
    // The result has s (size - 1) + 1 + low + high - reach elements.
    int64_t more = llvm::divideFloorSigned(low + high - reach - r, stride);
    StridePhase phase = {-starts.front(),      more + starts.back(),
                         taps.front(),         1,
                         int64_t(taps.size()), 1};
    if (taps.size() > 1) {
      phase.tapStep = taps[1] - taps[0];
      phase.dilation = starts[1] - starts[0];
    }
    if (std::min(phase.low, phase.high) < 0 &&
        std::max(phase.low, phase.high) > 0)
      return {};
    phases.push_back(phase);
  }
  return phases;
}

namespace {

/// The state during the lowering of a transposed convolution.
struct Transposed {
  OpBuilder &b;
  Location loc;
  nn::ConvTransposeOp op;
  /// The data, weights as G, C/G, O/G, K…, and the bias.
  Value x, w, bias;

  int64_t rank() { return op.getStrides().size(); }
  size_t dimOf(size_t d) { return d + (op.getChannelsLast() ? 1 : 2); }
  Value spread(Value x);
  Value convolve(Value x, ArrayRef<StridePhase> phase, RankedTensorType type);
};

} // namespace

/// Returns x with zeros between its pixels.
Value Transposed::spread(Value x) {
  if (llvm::all_of(op.getStrides(), [](int64_t s) { return s == 1; }))
    return x;
  size_t n = rank();
  Sizes sizes = sizesOf(b, loc, x), spread = sizes;
  OpFoldResult one = b.getIndexAttr(1);
  Sizes steps(n + 2, one), offsets(n + 2, b.getIndexAttr(0));
  for (size_t d = 0; d < n; ++d) {
    steps[dimOf(d)] = b.getIndexAttr(op.getStrides()[d]);
    OpFoldResult gaps = mulSizes(
        b, loc, subSizes(b, loc, sizes[dimOf(d)], one), steps[dimOf(d)]);
    spread[dimOf(d)] = addSizes(b, loc, gaps, one);
  }
  Value zero = scalar(b, loc, typeOf(x).getElementType(), 0);
  return insert(b, loc, x, filled(b, loc, spread, zero),
                {offsets, sizes, steps});
}

/// Convolves x with the taps of a phase in each dimension.
Value Transposed::convolve(Value x, ArrayRef<StridePhase> phase,
                           RankedTensorType type) {
  size_t n = rank();
  bool last = op.getChannelsLast();
  ArrayRef<int64_t> kernel = typeOf(w).getShape().drop_front(3);
  SmallVector<int64_t> low, high;
  DirectConv conv;
  Sizes from = sizesOf(b, loc, w), to = {from[0], from[1]};
  for (const StridePhase &window : phase) {
    low.push_back(window.low);
    high.push_back(window.high);
    conv.dilations.push_back(window.dilation);
    to.push_back(b.getIndexAttr(window.numTaps));
  }
  to.push_back(from[2]);
  conv.x = pad(b, loc, x, allPads(low, last), allPads(high, last),
               scalar(b, loc, typeOf(x).getElementType(), 0));
  // Flip the kernel while transposing it to G, C/G, K…, O/G.
  conv.w = generate(
      b, loc, to, typeOf(w).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> indices = {at[0], at[1], at.back()};
        for (size_t d = 0; d < n; ++d) {
          Value last =
              indexConstant(b, loc, kernel[d] - 1 - phase[d].firstTap);
          Value step = indexConstant(b, loc, phase[d].tapStep);
          indices.push_back(arith::SubIOp::create(
              b, loc, last,
              arith::MulIOp::create(b, loc, at[2 + d], step)));
        }
        return tensor::ExtractOp::create(b, loc, w, indices);
      });
  conv.bias = bias;
  conv.strides.assign(n, 1);
  conv.groups = op.getGroups();
  conv.channelsLast = last;
  return buildConv(b, loc, conv, type);
}

LogicalResult LowerConvTranspose::matchAndRewrite(
    nn::ConvTransposeOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  size_t n = op.getStrides().size();
  ArrayRef<int64_t> kernel = typeOf(adaptor.getW()).getShape().drop_front(2);
  if (llvm::any_of(kernel, ShapedType::isDynamic))
    return rewriter.notifyMatchFailure(op, "dynamic kernel");
  RankedTensorType type = signless(getTypeConverter(), op);
  Value w = splitChannels(rewriter, loc, adaptor.getW(), 0, op.getGroups());
  Transposed whole{rewriter,  loc, op, adaptor.getX(), w, adaptor.getBias()};
  // All combinations of phases, the last dimension fastest.
  SmallVector<SmallVector<StridePhase>> combined = {{}};
  for (size_t d = 0; d < n; ++d) {
    SmallVector<SmallVector<StridePhase>> longer;
    for (const SmallVector<StridePhase> &before : combined)
      for (const StridePhase &phase : phasesOf(op, d)) {
        longer.push_back(before);
        longer.back().push_back(phase);
      }
    combined = std::move(longer);
  }
  constexpr size_t kMaxCombined = 16;
  if (combined.size() <= 1 || combined.size() > kMaxCombined) {
    SmallVector<StridePhase> phase;
    for (size_t d = 0; d < n; ++d) {
      int64_t dilation = op.getDilations()[d];
      int64_t reach = dilation * (kernel[d] - 1);
      phase.push_back({reach - op.getPads()[d],
                       reach - op.getPads()[n + d] + op.getOutputPadding()[d],
                       0, 1, kernel[d], dilation});
    }
    rewriter.replaceOp(
        op, whole.convolve(whole.spread(adaptor.getX()), phase, type));
    return success();
  }
  SmallVector<int64_t> open(type.getShape());
  for (size_t d = 0; d < n; ++d)
    open[whole.dimOf(d)] = ShapedType::kDynamic;
  Value y = destinationOf(rewriter, op->getResult(0), type.getElementType());
  for (auto [number, phase] : llvm::enumerate(combined)) {
    Value part = whole.convolve(adaptor.getX(), phase, type.clone(open));
    Sizes steps(n + 2, rewriter.getIndexAttr(1)),
        offsets(n + 2, rewriter.getIndexAttr(0));
    for (size_t d = n, rest = number; d-- > 0;) {
      int64_t stride = op.getStrides()[d];
      steps[whole.dimOf(d)] = rewriter.getIndexAttr(stride);
      offsets[whole.dimOf(d)] = rewriter.getIndexAttr(rest % stride);
      rest /= stride;
    }
    y = insert(rewriter, loc, part, y,
               {offsets, sizesOf(rewriter, loc, part), steps});
  }
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

void loops::populateConvToLinalg(RewritePatternSet &patterns,
                                 const TypeConverter &converter) {
  patterns.add<LowerConv, LowerConvTranspose>(converter, patterns.getContext());
}
