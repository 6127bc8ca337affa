//===- FuseElementwise.cpp - fuse-elementwise -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"
#include "passes/support/ByteTables.h"
#include "passes/support/Contractions.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;

static int64_t bodyOps(Operation *op) {
  int64_t count = 0;
  if (isa<linalg::LinalgOp>(op))
    for (Operation &inner : op->getRegion(0).getOps())
      count += isa<math::MathDialect>(inner.getDialect())
                   ? ingot::threshold::fusedFunctionOps
                   : 1;
  return count;
}

/// Returns true if fusing would repeat a reduction, or a loop in the body, for
/// each element that its result is broadcast to.
static bool accumulatesAgain(OpOperand &fused) {
  auto from = fused.get().getDefiningOp<linalg::LinalgOp>();
  auto to = dyn_cast<linalg::LinalgOp>(fused.getOwner());
  return from && to && !to.getMatchingIndexingMap(&fused).isPermutation() &&
         (!from.getBlock()->getOps<LoopLikeOpInterface>().empty() ||
          llvm::any_of(from.getDpsInitsMutable(), [&](OpOperand &init) {
            return from.payloadUsesValueFromOperand(&init);
          }));
}

/// Returns true if fusing would repeat many operations for each element that
/// their result is broadcast to. An example is a table of indices that all
/// channels share.
static bool repeatsWork(OpOperand &fused) {
  auto to = dyn_cast<linalg::LinalgOp>(fused.getOwner());
  return to && !to.getMatchingIndexingMap(&fused).isPermutation() &&
         bodyOps(fused.get().getDefiningOp()) >
             ingot::threshold::fusedRepeatedOps;
}

/// Returns true if an op computes an operand of a matrix product. Fusing would
/// repeat the op for each row or column, because the register tiles load
/// operands from memory several times.
static bool computesFactor(OpOperand &fused) {
  auto from = fused.get().getDefiningOp<linalg::LinalgOp>();
  auto to = dyn_cast<linalg::LinalgOp>(fused.getOwner());
  if (!from || !to || !ingot::support::hasTiledProductLoops(to) ||
      to.getStaticLoopRanges()[to.getNumLoops() - 3] == 1)
    return false;
  // Accept a convolution, which also has reduction loops over taps. No operand
  // of a convolution is transposed, because the channels of a pixel, and of a
  // tap, are contiguous.
  if (to.getNumReductionLoops() > 1)
    return true;
  return llvm::any_of(from.getBlock()->without_terminator(),
                      [](Operation &op) { return !isa<arith::ExtFOp>(op); });
}

static bool isCopy(linalg::GenericOp op) {
  return op.getBlock()->without_terminator().empty();
}

/// Returns true if the op moves the innermost dimension of an operand.
static bool turns(linalg::GenericOp op) {
  return llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isPermutation() && map.getNumResults() != 0 &&
           map.getResults().back() !=
               getAffineDimExpr(map.getNumDims() - 1, map.getContext());
  });
}

/// Returns true if fusing would merge a transpose with an op that calls math
/// functions. The merged loop could not compute the functions on vectors in
/// memory. A separate transpose is vectorized by square blocks.
static bool turnsFunctions(OpOperand &fused) {
  auto from = fused.get().getDefiningOp<linalg::GenericOp>();
  auto to = dyn_cast<linalg::GenericOp>(fused.getOwner());
  if (!from || !to)
    return false;
  auto hasFunctions = [](linalg::GenericOp op) {
    return llvm::any_of(*op.getBlock(), [](Operation &step) {
      return isa<math::CosOp, math::ErfOp, math::ExpOp, math::SinOp,
                 math::TanhOp>(step);
    });
  };
  return (isCopy(from) && turns(from) && hasFunctions(to)) ||
         (isCopy(to) && turns(to) && hasFunctions(from));
}

/// Returns true if either op looks up bytes in a table. Such an op is not
/// fused, because a loop with look-ups is only vectorized if it does nothing
/// else.
static bool looksUp(OpOperand &fused) {
  auto isLookup = [](Operation *op) {
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    return loops && ingot::support::getByteTable(loops);
  };
  return isLookup(fused.get().getDefiningOp()) || isLookup(fused.getOwner());
}

namespace {
struct FuseElementwisePass
    : ingot::impl::FuseElementwiseBase<FuseElementwisePass> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto isOnlyUser = [](OpOperand *fused) {
      Operation *producer = fused->get().getDefiningOp();
      // Do not move an op into a loop or a branch, where it might be computed
      // several times.
      return producer && producer->hasOneUse() &&
             producer->getBlock() == fused->getOwner()->getBlock();
    };
    auto canFuse = [&](OpOperand *fused) {
      return isOnlyUser(fused) && !accumulatesAgain(*fused) &&
             !computesFactor(*fused) && !turnsFunctions(*fused) &&
             !looksUp(*fused) && !repeatsWork(*fused) &&
             bodyOps(fused->get().getDefiningOp()) +
                     bodyOps(fused->getOwner()) <=
                 mostOps;
    };
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, canFuse);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isOnlyUser);
    tensor::populateBubbleUpExpandShapePatterns(patterns);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    // Removes uses of tensors by tensor.dim, because a second user prevents
    // fusion.
    tensor::DimOp::getCanonicalizationPatterns(patterns, context);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(patterns, isOnlyUser);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(ingot::rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument(), config)))
      signalPassFailure();
  }
};
} // namespace
