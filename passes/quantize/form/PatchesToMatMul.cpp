//===- PatchesToMatMul.cpp - nn-patches-to-matmul -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Permutation.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

namespace ingot {
#define GEN_PASS_DEF_PATCHESTOMATMUL
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::productOf;
using support::typeOf;

/// Returns true if windows do not overlap: each element of x is in at most one
/// window, and there is no padding.
static bool readsPatches(nn::ConvOp op) {
  auto is = [](int64_t number) {
    return [number](int64_t other) { return other == number; };
  };
  ArrayRef<int64_t> taps = typeOf(op.getW()).getShape().drop_front(2);
  return op.getGroups() == 1 && op.getStrides() == taps &&
         llvm::any_of(taps, [](int64_t size) { return size > 1; }) &&
         llvm::all_of(op.getPads(), is(0)) &&
         llvm::all_of(op.getDilations(), is(1));
}

/// Returns the part of `x`, of shape `N, C, D1…Dn`, that windows of size `taps`
/// cover.
static Value cropToWindows(PatternRewriter &rewriter, Location loc, Value x,
                           ArrayRef<int64_t> taps) {
  SmallVector<int64_t> sizes(typeOf(x).getShape());
  for (auto [size, window] :
       llvm::zip_equal(MutableArrayRef(sizes).drop_front(2), taps))
    size -= size % window;
  if (ArrayRef(sizes) == typeOf(x).getShape())
    return x;
  RankedTensorType type = typeOf(x).clone(sizes);
  if (type.isDynamicDim(0))
    sizes[0] = -1;
  return nn::SliceOp::create(rewriter, loc, type, x,
                             SmallVector<int64_t>(sizes.size(), 0), sizes,
                             SmallVector<int64_t>(sizes.size(), 1));
}

namespace {

struct PatchesToMatMul : OpRewritePattern<nn::ConvOp> {
  PatchesToMatMul(MLIRContext *context, bool bytesOnly, Pass::Statistic &count)
      : OpRewritePattern(context), bytesOnly(bytesOnly), count(count) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
    RankedTensorType y = typeOf(op.getY());
    if (!isa<FloatType>(x.getElementType()) || op.getChannelsLast())
      return rewriter.notifyMatchFailure(
          op, "is not of floats with the channels first");
    if (!w.hasStaticShape() ||
        ShapedType::isDynamicShape(x.getShape().drop_front()))
      return rewriter.notifyMatchFailure(op, "has open sizes");
    if (bytesOnly && !op.getX().getDefiningOp<nn::DequantizeOp>())
      return rewriter.notifyMatchFailure(op, "multiplies f32 as it is");
    if (!readsPatches(op))
      return rewriter.notifyMatchFailure(
          op, "has windows that overlap, gaps, padding or groups");
    Answer<bool> answer = Policy::of(op).multiplyPatches(op);
    if (!answer.choice)
      return rewriter.notifyMatchFailure(op, answer.reason);
    int64_t terms = productOf(w.getShape().drop_front());

    // Split N, C, D1…Dn into N, C, O1, K1, …, and transpose it to N, O1…On, C,
    // K1…Kn. Each window is then a row of one matrix.
    ArrayRef<int64_t> taps = w.getShape().drop_front(2);
    ArrayRef<int64_t> counts = y.getShape().drop_front(2);
    int64_t n = taps.size(), batch = x.getDimSize(0);
    int64_t rows = productOf(counts), columns = w.getDimSize(0);
    SmallVector<int64_t> split = {batch, x.getDimSize(1)};
    SmallVector<int64_t> perm = {0}, within = {1};
    for (int64_t i = 0; i < n; ++i) {
      split.append({counts[i], taps[i]});
      perm.push_back(2 + 2 * i);
      within.push_back(3 + 2 * i);
    }
    llvm::append_range(perm, within);
    Location loc = op.getLoc();
    Value a = cropToWindows(rewriter, loc, op.getX(), taps);
    a = nn::ReshapeOp::create(rewriter, loc, x.clone(split), a);
    a = nn::TransposeOp::create(
        rewriter, loc, support::permute(x.clone(split), perm), a, perm);
    a = nn::ReshapeOp::create(rewriter, loc, x.clone({batch, rows, terms}), a);
    Value b = nn::ReshapeOp::create(rewriter, op.getW().getLoc(),
                                    w.clone({columns, terms}), op.getW());
    Value product = nn::MatMulOp::create(
        rewriter, loc, y.clone({batch, rows, columns}), a, b, op.getBias(),
        /*transpose_a=*/false, /*transpose_b=*/true);
    product.getDefiningOp()->setDiscardableAttrs(
        op->getDiscardableAttrDictionary());
    record(op, Question::layout, "rows of patches", answer.reason,
           answer.alternatives);
    support::Perm last = support::toChannelsLast(y.getRank());
    product = nn::ReshapeOp::create(rewriter, loc, support::permute(y, last),
                                    product);
    rewriter.replaceOpWithNewOp<nn::TransposeOp>(
        op, y, product, support::toChannelsFirst(y.getRank()));
    ++count;
    return success();
  }

  bool bytesOnly;
  Pass::Statistic &count;
};

struct PatchesToMatMulPass
    : ingot::impl::PatchesToMatMulBase<PatchesToMatMulPass> {
  using PatchesToMatMulBase::PatchesToMatMulBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PatchesToMatMul>(&getContext(), bytesOnly, numPatches);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
