//===- SinkThroughMovement.cpp - transposes below data movement -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/layout/Sink.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;
using namespace ingot::support;

namespace {

struct SinkThroughConcat : OpRewritePattern<nn::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs(op.getInputs());
    Perm perm = commonPerm(op, inputs);
    if (perm.empty())
      return rewriter.notifyMatchFailure(op, kNoCommonPerm);
    Perm undo = inverse(perm);
    for (Value &input : inputs)
      input = transposed(rewriter, op.getLoc(), input, undo);
    int64_t axis = perm[op.getAxis()];
    auto sunk = replaceTransposed(rewriter, op, inputs, perm);
    cast<nn::ConcatOp>(sunk).setAxis(axis);
    return success();
  }
};

struct SinkThroughSlice : SinkPattern<nn::SliceOp> {
  using SinkPattern::SinkPattern;
  LogicalResult sink(nn::SliceOp op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    Perm perm(transpose.getPerm()), undo = inverse(perm);
    auto starts = permute(op.getStarts(), undo);
    auto sizes = permute(op.getSizes(), undo);
    auto steps = permute(op.getSteps(), undo);
    auto sunk = cast<nn::SliceOp>(
        replaceTransposed(rewriter, op, transpose.getX(), perm));
    sunk.setStarts(starts);
    sunk.setSizes(sizes);
    sunk.setSteps(steps);
    return success();
  }
};

/// A slice with offsets, sizes and strides that are constant or computed at run
/// time.
template <typename Op>
struct SliceBounds {
  explicit SliceBounds(Op op)
      : offsets(op.getMixedOffsets()), sizes(op.getMixedSizes()),
        strides(op.getMixedStrides()) {}
  SliceBounds transposed(ArrayRef<int64_t> perm) const {
    SliceBounds result(*this);
    for (auto *list : {&result.offsets, &result.sizes, &result.strides})
      *list = permute(ArrayRef(*list), perm);
    return result;
  }

  SmallVector<OpFoldResult> offsets, sizes, strides;
};

struct SinkThroughExtractSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    nn::TransposeOp transpose = transposeFor(op, op.getSource());
    if (!transpose || op.getDroppedDims().any())
      return rewriter.notifyMatchFailure(
          op, "does not read all dimensions of a transpose's result");
    Perm perm(transpose.getPerm()), undo = inverse(perm);
    SliceBounds window = SliceBounds(op).transposed(undo);
    Value sunk = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), permute(op.getType(), undo), transpose.getX(),
        window.offsets, window.sizes, window.strides);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), sunk, perm));
    return success();
  }
};

struct SinkThroughInsertSlice : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getDroppedDims().any())
      return rewriter.notifyMatchFailure(op, "adds dimensions");
    Perm perm = commonPerm(op, {op.getSource(), op.getDest()});
    if (perm.empty())
      return rewriter.notifyMatchFailure(op, kNoCommonPerm);
    Perm undo = inverse(perm);
    SliceBounds window = SliceBounds(op).transposed(undo);
    Location loc = op.getLoc();
    Value source = transposed(rewriter, loc, op.getSource(), undo),
          dest = transposed(rewriter, loc, op.getDest(), undo);
    Value sunk = tensor::InsertSliceOp::create(rewriter, loc, source, dest,
                                               window.offsets, window.sizes,
                                               window.strides);
    rewriter.replaceOp(op, transposed(rewriter, loc, sunk, perm));
    return success();
  }
};

struct SinkThroughPad : SinkPattern<nn::PadOp> {
  using SinkPattern::SinkPattern;
  LogicalResult sink(nn::PadOp op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    Perm perm(transpose.getPerm()), undo = inverse(perm);
    auto low = permute(op.getLow(), undo), high = permute(op.getHigh(), undo);
    auto sunk = replaceFirstOperand(rewriter, op, transpose, perm);
    sunk.setLow(low);
    sunk.setHigh(high);
    return success();
  }
};

struct SinkThroughResize : SinkPattern<nn::ResizeOp> {
  using SinkPattern::SinkPattern;
  LogicalResult sink(nn::ResizeOp op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    Perm perm(transpose.getPerm());
    auto scales = permute(op.getScales(), inverse(perm));
    SmallVector<Value> operands{transpose.getX()};
    for (OperandRange given : {op.getSizes(), op.getFactors()})
      for (int64_t dim : inverse(perm))
        if (op.isComputed(dim))
          operands.push_back(given[op.computedBefore(dim)]);
    auto sunk =
        cast<nn::ResizeOp>(replaceTransposed(rewriter, op, operands, perm));
    sunk.setScales(scales);
    return success();
  }
};

/// Sinks a transpose below a gather. A scalar index removes the gather axis, a
/// 1-D list of indices keeps it.
struct SinkThroughGather : SinkPattern<nn::GatherOp> {
  using SinkPattern::SinkPattern;
  LogicalResult sink(nn::GatherOp op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    int64_t indexRank = typeOf(op.getIndices()).getRank();
    if (indexRank > 1)
      return rewriter.notifyMatchFailure(op,
                                         "has indices of several dimensions");
    ArrayRef<int64_t> perm = transpose.getPerm();
    int64_t gone = perm[op.getAxis()];
    Perm rest;
    for (int64_t dim : perm)
      if (indexRank == 1 || dim != gone)
        rest.push_back(indexRank == 0 && dim > gone ? dim - 1 : dim);
    auto sunk = cast<nn::GatherOp>(replaceTransposed(
        rewriter, op, {transpose.getX(), op.getIndices()}, rest));
    sunk.setAxis(gone);
    return success();
  }
};

struct SinkThroughBroadcast : SinkPattern<nn::BroadcastToOp> {
  using SinkPattern::SinkPattern;
  LogicalResult sink(nn::BroadcastToOp op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    if (!op.getSizes().empty() ||
        typeOf(op.getX()).getRank() != typeOf(op).getRank())
      return rewriter.notifyMatchFailure(op, "adds dimensions, or open sizes");
    replaceTransposed(rewriter, op, transpose.getX(), transpose.getPerm());
    return success();
  }
};

/// Sinks a transpose below a quantize or dequantize with scalars, or with one
/// scale for each element of an axis.
template <typename Op>
struct SinkThroughQuantization : SinkPattern<Op> {
  using SinkPattern<Op>::SinkPattern;
  LogicalResult sink(Op op, nn::TransposeOp transpose,
                     PatternRewriter &rewriter) const override {
    if (typeOf(op.getScale()).getRank() > 1)
      return rewriter.notifyMatchFailure(op, "has scales of rows");
    int64_t axis = op.getAxis();
    if (axis >= 0 && axis < typeOf(op.getX()).getRank())
      axis = transpose.getPerm()[axis];
    replaceFirstOperand(rewriter, op, transpose, transpose.getPerm())
        .setAxis(axis);
    return success();
  }
};

/// Composes two transposes, and removes identity transposes.
struct ComposeTransposes : OpRewritePattern<nn::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (!isIdentity(op.getPerm()) && !transposeFor(op, op.getX()))
      return rewriter.notifyMatchFailure(op, kNoTranspose);
    Value y = transposed(rewriter, op.getLoc(), op.getX(), op.getPerm());
    if (y.getType() != op.getType())
      y = tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), y);
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// Reads a size from the operand of a transpose instead of from its result, so
/// that a tensor.dim does not keep the transpose alive.
struct DimOfTranspose : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    nn::TransposeOp transpose = transposeOf(op.getSource());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!transpose || !dim || *dim < 0 ||
        *dim >= int64_t(transpose.getPerm().size()))
      return rewriter.notifyMatchFailure(op, kNoTranspose);
    rewriter.replaceOpWithNewOp<tensor::DimOp>(op, transpose.getX(),
                                               transpose.getPerm()[*dim]);
    return success();
  }
};

} // namespace

void layout::populateSinkThroughMovement(RewritePatternSet &patterns) {
  patterns.add<SinkThroughConcat, SinkThroughSlice, SinkThroughExtractSlice,
               SinkThroughInsertSlice, SinkThroughPad,
               SinkThroughResize, SinkThroughGather, SinkThroughBroadcast,
               SinkThroughQuantization<nn::QuantizeOp>,
               SinkThroughQuantization<nn::DequantizeOp>, ComposeTransposes,
               DimOfTranspose>(patterns.getContext());
}
