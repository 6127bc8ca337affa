//===- MergeScaleShifts.cpp - nn-merge-scale-shifts -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Passes.h"
#include "passes/graph/ScaleShift.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_MERGESCALESHIFTS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;

/// Longer chains are merged in parts.
static constexpr int kMostOps = 16;

/// Whether `value` is what a product gives: sums of integers as floats, or
/// those of floats.
static bool isOfProduct(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<nn::CastOp>(op))
    return typeOf(cast.getX()).getElementType().isInteger();
  return isa_and_nonnull<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op);
}

/// Whether f32 holds all of `scaleShift` as well as it held what it is made of.
static bool holds(const ScaleShift &scaleShift) {
  auto isHeld = [](double number) {
    return number == 0 || std::isnormal(float(number));
  };
  return llvm::all_of(scaleShift.scale, isHeld) &&
         llvm::all_of(scaleShift.shift, isHeld);
}

namespace {

/// Ops that scale and shift what a product gives, as one.
struct Chain {
  ScaleShift whole;
  Value x;
  SmallVector<Location> locations;
  int ops = 0;
  bool divides = false;

  /// The chain that ends with `op`, along dimension `dim`.
  Chain(Operation *op, int64_t dim);
  /// What takes its place.
  int merged() const { return int(whole.scales()) + int(whole.shifts()); }
};

} // namespace

Chain::Chain(Operation *op, int64_t dim) {
  while (op && ops < kMostOps && (ops == 0 || op->hasOneUse())) {
    Value data;
    std::optional<ScaleShift> inner = matchScaleShift(op, dim, data);
    if (!inner)
      break;
    if (ops == 0) {
      whole = *inner;
    } else {
      // s (t x + u) + v = s t x + (s u + v).
      for (size_t c = 0; c < whole.scale.size(); ++c) {
        whole.shift[c] += whole.scale[c] * inner->shift[c];
        whole.scale[c] *= inner->scale[c];
      }
    }
    divides |= isa<nn::DivOp>(op);
    x = data;
    locations.push_back(op->getLoc());
    ++ops;
    op = data.getDefiningOp();
  }
}

namespace {

template <typename Op> struct MergeIntoOne : OpRewritePattern<Op> {
  MergeIntoOne(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), count(count) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    // Channels of convolutions, columns of other products.
    for (int64_t dim : {int64_t(1), type.getRank() - 1}) {
      if (dim < 0 || dim >= type.getRank())
        continue;
      Chain chain(op, dim);
      if (chain.ops < 2 || !isOfProduct(chain.x) || !holds(chain.whole) ||
          chain.whole.scale.empty())
        continue;
      if (chain.ops == chain.merged() && !chain.divides)
        continue;
      replace(op, chain, dim, rewriter);
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(
        op, "is not the last of several that scale and shift a product");
  }

  static void replace(Op op, const Chain &chain, int64_t dim,
                      PatternRewriter &rewriter) {
    Location loc =
        rewriter.getFusedLoc(llvm::to_vector(llvm::reverse(chain.locations)));
    RankedTensorType type = op.getType();
    auto constant = [&](ArrayRef<double> values) {
      return makePerChannel(rewriter, loc, type.getElementType(),
                            type.getRank(), dim, values);
    };
    Value y = chain.x;
    if (chain.whole.scales())
      y = nn::MulOp::create(rewriter, loc, type, y,
                            constant(chain.whole.scale));
    if (chain.whole.shifts())
      y = nn::AddOp::create(rewriter, loc, type, y,
                            constant(chain.whole.shift));
    rewriter.replaceOp(op, y);
  }

  Pass::Statistic &count;
};

struct MergeScaleShiftsPass
    : ingot::impl::MergeScaleShiftsBase<MergeScaleShiftsPass> {
  using MergeScaleShiftsBase::MergeScaleShiftsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeIntoOne<nn::AddOp>, MergeIntoOne<nn::SubOp>,
                 MergeIntoOne<nn::MulOp>, MergeIntoOne<nn::DivOp>>(
        &getContext(), numMerged);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
