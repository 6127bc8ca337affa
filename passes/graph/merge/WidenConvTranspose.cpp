//===- WidenConvTranspose.cpp - nn-widen-conv-transpose -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/graph/Passes.h"
#include "passes/support/Lowering.h"
#include "passes/support/Rewrite.h"
#include "passes/support/StridePhases.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cstring>

namespace ingot {
#define GEN_PASS_DEF_WIDENCONVTRANSPOSE
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

/// Extends the last dimension of `weights` to `kernel` taps. The new taps are
/// zero.
static ElementsAttr widened(ElementsAttr weights, int64_t kernel) {
  auto type = cast<RankedTensorType>(weights.getShapedType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t size = nn::elementBytes(type.getElementType());
  int64_t from = shape.back() * size, to = kernel * size;
  std::vector<char> storage;
  std::optional<ArrayRef<char>> bytes = nn::getRawBytes(weights, storage);
  if (!bytes)
    return {};
  int64_t rows = type.getNumElements() / shape.back();
  std::vector<char> wide(rows * to, 0);
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(&wide[row * to], bytes->data() + row * from, from);
  shape.back() = kernel;
  return nn::makeConstantAttr(type.clone(shape), std::move(wide));
}

namespace {

struct Widen : OpRewritePattern<nn::ConvTransposeOp> {
  Widen(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> strides = op.getStrides();
    size_t last = strides.size() - 1;
    int64_t stride = strides[last];
    // If there are few phases, each phase gets its own kernel without zero
    // taps, so widening gains nothing.
    if (!support::hasManyStridePhases(strides))
      return rewriter.notifyMatchFailure(op, "has few phases");
    if (stride == 1 || op.getGroups() != 1 || op.getDilations()[last] != 1)
      return rewriter.notifyMatchFailure(
          op, "has no phases of the last dimension that can be one");
    SmallVector<int64_t> pads(op.getPads()), extra(op.getOutputPadding());
    int64_t &low = pads[last], &high = pads.back();
    int64_t taps = typeOf(op.getW()).getShape().back();
    // Taps must also cover the output behind the reach of the last tap.
    int64_t kernel = llvm::alignTo(
        taps + std::max<int64_t>(0, extra[last] - high), stride);
    if (low < 0)
      return rewriter.notifyMatchFailure(op, "has pads that are negative");
    if (kernel == taps && low == 0 && high == 0 && extra[last] == 0)
      return rewriter.notifyMatchFailure(op, "is as wide as it has to be");
    ElementsAttr weights = nn::getConstant(op.getW());
    ElementsAttr wide = weights ? widened(weights, kernel) : ElementsAttr();
    if (!wide)
      return rewriter.notifyMatchFailure(op, "has weights that a run computes");

    RankedTensorType type = typeOf(op.getY());
    int64_t rank = type.getRank();
    SmallVector<int64_t> before(rank, 0), behind(rank, 0);
    int64_t at = op.getChannelsLast() ? rank - 2 : rank - 1;
    before[at] = -low;
    behind[at] = taps + extra[last] - high - kernel;
    low = high = extra[last] = 0;
    Location loc = op.getLoc();
    Value w = arith::ConstantOp::create(rewriter, op.getW().getLoc(), wide);
    SmallVector<int64_t> shape(type.getShape());
    if (!type.isDynamicDim(at))
      shape[at] -= before[at] + behind[at];
    auto conv = nn::ConvTransposeOp::create(
        rewriter, loc, type.clone(shape), op.getX(), w, op.getBias(), strides,
        pads, op.getDilations(), extra, op.getGroups(), op.getChannelsLast(),
        op.getXZeroPoint());
    conv->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    // nn.pad needs a value even if it only crops.
    Value zero = nn::makeConstant(
        rewriter, loc, RankedTensorType::get({}, type.getElementType()), {0.0});
    rewriter.replaceOpWithNewOp<nn::PadOp>(op, type, conv, zero, before, behind,
                                           nn::PadMode::constant);
    ++count;
    return success();
  }

  Pass::Statistic &count;
};

struct WidenConvTransposePass
    : ingot::impl::WidenConvTransposeBase<WidenConvTransposePass> {
  using WidenConvTransposeBase::WidenConvTransposeBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Widen>(&getContext(), numWidened);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
