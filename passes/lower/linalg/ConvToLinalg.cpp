//===- ConvToLinalg.cpp - convolutions as direct loops --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/lower/linalg/Patterns.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::lower;

namespace {

/// A convolution of already padded data.
struct DirectConv {
  /// N, C, D… or N, D…, C.
  Value x;
  /// G, C/G, K…, O/G: output channels innermost, as the loops run.
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

/// Loops: n, g, and channels last: p… but the last, k…, p, c, o; else: o, c,
/// k…, p…. The last three of the former are those of a product, for all of
/// which there are register tiles (cpu-contractions-to-vector).
static Value buildConv(OpBuilder &b, Location loc, const DirectConv &conv,
                       RankedTensorType type) {
  int64_t n = conv.strides.size();
  bool last = conv.channelsLast;
  Value x = splitChannels(b, loc, conv.x, last ? n + 1 : 1, conv.groups);
  int64_t loops = 4 + 2 * n;
  int64_t firstP = last ? 2 : 4 + n, firstK = last ? 1 + n : 4;
  int64_t loopC = last ? loops - 2 : 3, loopO = last ? loops - 1 : 2;
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };

  // Open sizes are read off the padded data, not reified from the op, which has
  // them from the data in front: what has a second user is not fused into a
  // loop nest that would pad each element again for every multiply-add, and
  // LLVM sees that the loops stay within it. Reified, a detector of text took
  // 1.3 times as long.
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
  Value y = contract(b, loc, x, conv.w, init, maps, iterators);
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

/// Pads of all dimensions from those of the spatial ones.
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
    // O, C/G, K… as G, O/G, C/G, K…, then G, C/G, K…, O/G.
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

/// A convolution with the flipped kernel over the data with zeros in between.
struct LowerConvTranspose : OpConversionPattern<nn::ConvTransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ConvTransposeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult LowerConvTranspose::matchAndRewrite(
    nn::ConvTransposeOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  size_t n = op.getStrides().size();
  bool last = op.getChannelsLast();
  Value x = adaptor.getX();
  ArrayRef<int64_t> kernel = typeOf(adaptor.getW()).getShape().drop_front(2);
  if (llvm::any_of(kernel, ShapedType::isDynamic))
    return rewriter.notifyMatchFailure(op, "dynamic kernel");
  Value zero = scalar(rewriter, loc, typeOf(x).getElementType(), 0);

  Sizes dilated = sizesOf(rewriter, loc, x), source = dilated;
  Sizes steps(n + 2, rewriter.getIndexAttr(1)),
      offsets(n + 2, rewriter.getIndexAttr(0));
  SmallVector<int64_t> low, high;
  for (size_t i = 0; i < n; ++i) {
    size_t at = i + (last ? 1 : 2);
    OpFoldResult one = rewriter.getIndexAttr(1),
                 stride = rewriter.getIndexAttr(op.getStrides()[i]);
    OpFoldResult gaps = mulSizes(
        rewriter, loc, subSizes(rewriter, loc, source[at], one), stride);
    dilated[at] = addSizes(rewriter, loc, gaps, one);
    steps[at] = stride;
    int64_t reach = op.getDilations()[i] * (kernel[i] - 1);
    low.push_back(reach - op.getPads()[i]);
    high.push_back(reach - op.getPads()[n + i] + op.getOutputPadding()[i]);
  }
  if (llvm::any_of(op.getStrides(), [](int64_t s) { return s != 1; })) {
    Value background = filled(rewriter, loc, dilated, zero);
    x = insert(rewriter, loc, x, background, offsets, source, steps);
  }
  DirectConv conv;
  conv.x = pad(rewriter, loc, x, allPads(low, last), allPads(high, last), zero);
  // C, O/G, K… as G, C/G, O/G, K…; read flipped into G, C/G, K…, O/G.
  Value w = splitChannels(rewriter, loc, adaptor.getW(), 0, op.getGroups());
  Sizes from = sizesOf(rewriter, loc, w), to = {from[0], from[1]};
  to.append(from.begin() + 3, from.end());
  to.push_back(from[2]);
  conv.w = generate(
      rewriter, loc, to, typeOf(w).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> indices = {at[0], at[1], at.back()};
        for (size_t i = 0; i < n; ++i) {
          Value last = indexConstant(b, loc, kernel[i] - 1);
          indices.push_back(arith::SubIOp::create(b, loc, last, at[2 + i]));
        }
        return tensor::ExtractOp::create(b, loc, w, indices);
      });
  conv.bias = adaptor.getBias();
  conv.strides.assign(n, 1);
  conv.dilations.assign(op.getDilations().begin(), op.getDilations().end());
  conv.groups = op.getGroups();
  conv.channelsLast = last;
  rewriter.replaceOp(op, buildConv(rewriter, loc, conv,
                                   signless(getTypeConverter(), op)));
  return success();
}

void lower::populateConvToLinalg(RewritePatternSet &patterns,
                                 const TypeConverter &converter) {
  patterns.add<LowerConv, LowerConvTranspose>(converter, patterns.getContext());
}
