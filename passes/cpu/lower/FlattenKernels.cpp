//===- FlattenKernels.cpp - cpu-flatten-kernels ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_FLATTENKERNELS
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

/// All dimensions but the last become one. Where the first are open and the
/// others are many rows, each of an open batch has a matrix of its own: its
/// rows are split into tiles as if there was but one. Fewer rows would be too
/// few to read all weights for.
static SmallVector<ReassociationIndices> rowsAndColumns(RankedTensorType type) {
  constexpr int64_t kManyRows = 48;
  ArrayRef<int64_t> rows = type.getShape().drop_back();
  size_t batches = rows.size();
  while (batches > 0 && !ShapedType::isDynamic(rows[batches - 1]))
    --batches;
  if (support::productOf(rows.drop_front(batches)) < kManyRows)
    batches = 0;
  SmallVector<ReassociationIndices> groups;
  for (size_t i = 0; i <= rows.size(); ++i) {
    if (i == 0 || i == batches || i == rows.size())
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

/// Whether nothing is left to merge.
static bool isFlat(RankedTensorType type) {
  return rowsAndColumns(type).size() == size_t(type.getRank());
}

static bool allOnes(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size == 1; });
}

/// Whether each epilogue operand is read by row, or is the same for all rows.
static bool readsByRow(kernel::EpilogueOpInterface op, RankedTensorType dst) {
  return llvm::all_of(op.getEpilogueOperands(), [&](Value operand) {
    ArrayRef<int64_t> rows = typeOf(operand).getShape().drop_back();
    return allOnes(rows) || rows == dst.getShape().drop_back();
  });
}

/// Whether the result is only returned, reshaped or not. Others may overwrite a
/// tensor of their shape.
static bool endsInReturn(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
            endsInReturn(user));
  });
}

/// Makes a kernel on matrices.
using MakeKernel = function_ref<kernel::EpilogueOpInterface(
    Value src, ValueRange operands, Value dst)>;

/// The op as one of matrices.
static void replaceByMatrices(PatternRewriter &rewriter,
                              kernel::EpilogueOpInterface op, Value src,
                              Value dst, MakeKernel make) {
  Location loc = op->getLoc();
  RankedTensorType type = typeOf(dst);
  SmallVector<ReassociationIndices> groups = rowsAndColumns(type);
  auto flatten = [&](Value value) -> Value {
    return tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
  };
  SmallVector<Value> operands;
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(flatten(operand));
  Value flatDst = flatten(dst);
  // So that the model's result is computed where it is to go.
  if (dst.getDefiningOp<tensor::EmptyOp>() && type.hasStaticShape() &&
      endsInReturn(op))
    flatDst = tensor::EmptyOp::create(rewriter, loc, typeOf(flatDst).getShape(),
                                      type.getElementType());
  kernel::EpilogueOpInterface product = make(flatten(src), operands, flatDst);
  rewriter.inlineRegionBefore(op.getEpilogue(), product.getEpilogue(),
                              product.getEpilogue().begin());
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
      op, type, product->getResult(0), groups,
      tensor::getMixedSizes(rewriter, loc, dst));
}

/// The op as a product of matrices; `weights` have rank 3.
template <typename Op>
static void replaceByMatMul(PatternRewriter &rewriter, Op op, Value weights) {
  replaceByMatrices(rewriter, op, op.getSrc(), op.getDst(),
                    [&](Value src, ValueRange operands, Value dst) {
                      return cpu::MatMulOp::create(
                          rewriter, op->getLoc(), dst.getType(), src, weights,
                          /*blocks=*/Value(), /*pairs=*/Value(), operands, dst,
                          /*pair_counts=*/{}, op.getSignChannelsAttr(),
                          op.getDstSignsAttr(),
                          /*schedule=*/{});
                    });
}

/// Whether `dst` is written to a slice with gaps, of which no matrix is made.
static bool hasGaps(Value dst) {
  auto slice = dst.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && !slice.hasUnitStride();
}

namespace {

struct PointwiseConv : OpRewritePattern<cpu::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto dst = dyn_cast<RankedTensorType>(op.getDst().getType());
    if (!dst)
      return rewriter.notifyMatchFailure(op, "is on memrefs");
    cpu::PackedWeights weights(op.getWeights());
    if (op.getGroups() != 1 || op.getCompensation() ||
        !allOnes(weights.outer.drop_front()) ||
        !allOnes(op.getStrides()) || hasGaps(op.getDst()) ||
        !readsByRow(op, dst) ||
        llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; }))
      return rewriter.notifyMatchFailure(
          op, "is no product of pixels, has a destination with gaps, or "
              "operands that broadcast along some dimensions");
    SmallVector<ReassociationIndices> groups(1);
    int64_t rank = typeOf(op.getWeights()).getRank(),
            outer = weights.outer.size();
    for (int64_t i = 0; i < rank; ++i) {
      if (i >= outer)
        groups.emplace_back();
      groups.back().push_back(i);
    }
    Value flat = tensor::CollapseShapeOp::create(rewriter, op.getLoc(),
                                                 op.getWeights(), groups);
    replaceByMatMul(rewriter, op, flat);
    return success();
  }
};

struct BatchedRows : OpRewritePattern<cpu::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto dst = dyn_cast<RankedTensorType>(op.getDst().getType());
    if (!dst || isFlat(dst) ||
        cpu::PackedWeights(op.getWeights()).outer.size() != 1 ||
        !readsByRow(op, dst))
      return rewriter.notifyMatchFailure(
          op, "is a product of matrices already, has a right factor for each "
              "batch, or operands that broadcast along some dimensions");
    replaceByMatMul(rewriter, op, op.getWeights());
    return success();
  }
};

struct PackedRows : OpRewritePattern<cpu::PackedMatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::PackedMatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto dst = dyn_cast<RankedTensorType>(op.getDst().getType());
    if (!dst || isFlat(dst) || !readsByRow(op, dst))
      return rewriter.notifyMatchFailure(
          op, "is a product of matrices already, or has operands that "
              "broadcast along some dimensions");
    replaceByMatrices(rewriter, op, op.getSrc(), op.getDst(),
                      [&](Value src, ValueRange operands, Value dst) {
                        return cpu::PackedMatMulOp::create(
                            rewriter, op.getLoc(), dst.getType(), src,
                            op.getWeights(), op.getScales(),
                            op.getZeroPoints(), operands, dst, op.getBits(),
                            op.getBlockSize(), /*schedule=*/{});
                      });
    return success();
  }
};

/// A convolution along one column of pixels: the column is its row, which
/// register tiles go along.
struct ColumnConv : OpRewritePattern<cpu::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto dst = dyn_cast<RankedTensorType>(op.getDst().getType());
    if (!dst)
      return rewriter.notifyMatchFailure(op, "is on memrefs");
    int64_t rank = dst.getRank(), spatial = rank - 2;
    cpu::PackedWeights weights(op.getWeights());
    ArrayRef<int64_t> pads = op.getPads();
    if (spatial < 2 || op.getCompensation() || op.getPairs() ||
        typeOf(op.getSrc()).getDimSize(spatial) != 1 ||
        dst.getDimSize(spatial) != 1 || weights.outer.back() != 1 ||
        allOnes(weights.outer.drop_front()) ||
        pads[spatial - 1] != 0 || pads.back() != 0 || hasGaps(op.getDst()))
      return rewriter.notifyMatchFailure(op, "is no column of pixels");
    Location loc = op.getLoc();
    // Dimension `dim` of a tensor, which is 1, goes into the one before.
    auto without = [](int64_t rank, int64_t dim) {
      SmallVector<ReassociationIndices> groups;
      for (int64_t i = 0; i < rank; ++i) {
        if (i != dim)
          groups.emplace_back();
        groups.back().push_back(i);
      }
      return groups;
    };
    SmallVector<ReassociationIndices> groups = without(rank, spatial);
    auto flatten = [&](Value value) -> Value {
      return tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
    };
    Value packed = tensor::CollapseShapeOp::create(
        rewriter, loc, op.getWeights(),
        without(typeOf(op.getWeights()).getRank(), spatial));
    SmallVector<Value> operands;
    for (Value operand : op.getEpilogueOperands())
      operands.push_back(flatten(operand));
    SmallVector<int64_t> begins(pads.take_front(spatial - 1)),
        ends(pads.drop_front(spatial).take_front(spatial - 1));
    begins.append(ends);
    Value flatDst = flatten(op.getDst());
    auto conv = cpu::ConvOp::create(
        rewriter, loc, flatDst.getType(), flatten(op.getSrc()), packed,
        /*compensation=*/Value(), /*pairs=*/Value(), operands, flatDst,
        op.getStrides().drop_back(), begins, op.getDilations().drop_back(),
        op.getGroups(), op.getSrcZeroPoint(), /*pair_counts=*/{},
        /*winograd=*/{}, op.getSignChannelsAttr(), op.getDstSignsAttr(),
        /*schedule=*/{});
    rewriter.inlineRegionBefore(op.getEpilogue(), conv.getEpilogue(),
                                conv.getEpilogue().begin());
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, dst, conv.getResult(), groups,
        tensor::getMixedSizes(rewriter, loc, op.getDst()));
    return success();
  }
};

struct FlattenKernelsPass
    : ingot::impl::FlattenKernelsBase<FlattenKernelsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BatchedRows, ColumnConv, PackedRows, PointwiseConv>(
        &getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
