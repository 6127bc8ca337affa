//===- MergeScaleShifts.cpp - nn-merge-scale-shifts -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/form/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_MERGESCALESHIFTS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Length limit of a chain. Longer chains are merged in parts.
static constexpr size_t kMaxOps = 16;

/// Limit of ops to search between a product and its sums as floats.
static constexpr int kMaxDepth = 8;

/// Returns true if `value` is the result of a product. Such a result consists
/// of sums, as floats or integers, and of zero-point terms added to them. Other
/// integers may be counts, whose quotients must stay exact integers.
static bool isOfProduct(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op))
    return true;
  return isa_and_nonnull<nn::CastOp, nn::AddOp, nn::SubOp>(op) &&
         typeOf(op->getOperand(0)).getElementType().isInteger() &&
         depth < kMaxDepth &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isOfProduct(operand, depth + 1);
         });
}

/// Returns true if f32 holds all constants of `scaleShift` without underflow or
/// overflow.
static bool holds(const ScaleShift &scaleShift) {
  auto isHeld = [](double number) {
    return number == 0 || std::isnormal(float(number));
  };
  return llvm::all_of(scaleShift.scale, isHeld) &&
         llvm::all_of(scaleShift.shift, isHeld);
}

namespace {

/// A chain of ops that scale and shift the result of a product, composed into
/// one scale and shift.
struct Chain {
  ScaleShift whole;
  Value x;
  /// Locations of the ops, the last op first.
  SmallVector<Location> locations;
  bool divides = false;

  /// Finds the chain that ends with `op`, along dimension `dim`.
  Chain(Operation *op, int64_t dim);
  /// Returns true if the merged chain has fewer ops, or avoids a division.
  bool isWorthIt() const {
    return divides || locations.size() > size_t(whole.scales()) +
                                             size_t(whole.shifts());
  }
};

} // namespace

Chain::Chain(Operation *op, int64_t dim) {
  while (op && locations.size() < kMaxOps &&
         (locations.empty() || op->hasOneUse())) {
    Value data;
    std::optional<ScaleShift> inner = matchScaleShift(op, dim, data);
    if (!inner)
      break;
    if (locations.empty()) {
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
    // Try the channels of convolutions, and then the columns of other products.
    for (int64_t dim : {int64_t(1), type.getRank() - 1}) {
      if (dim < 0 || dim >= type.getRank())
        continue;
      Chain chain(op, dim);
      if (chain.locations.size() < 2 || chain.whole.scale.empty() ||
          !chain.isWorthIt() || !holds(chain.whole) || !isOfProduct(chain.x))
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
