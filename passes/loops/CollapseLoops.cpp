//===- CollapseLoops.cpp - collapse-loops ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot {
#define GEN_PASS_DEF_COLLAPSELOOPS
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct CollapseLoopsPass : ingot::impl::CollapseLoopsBase<CollapseLoopsPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns true if dimensions `first` and `first + 1` of a memref can be
/// collapsed into one dimension.
static bool isOneRun(MemRefType type, int64_t first) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i == first + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  return memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups);
}

/// Returns true if loops `loop` and `loop + 1` visit the elements of all
/// operands as one loop would.
static bool areOneLoop(linalg::GenericOp op, int64_t loop) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (kinds[loop] != kinds[loop + 1])
    return false;
  MLIRContext *context = op.getContext();
  AffineExpr outer = getAffineDimExpr(loop, context);
  AffineExpr inner = getAffineDimExpr(loop + 1, context);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<unsigned> first = map.getResultPosition(outer);
    std::optional<unsigned> second = map.getResultPosition(inner);
    if (!first && !second)
      continue;
    if (!first || !second || *second != *first + 1 ||
        !isOneRun(cast<MemRefType>(operand.get().getType()), *first))
      return false;
  }
  return true;
}

/// Returns the loops of an op, grouped by the loops that can become one.
static SmallVector<ReassociationIndices> loopsOf(linalg::GenericOp op) {
  SmallVector<ReassociationIndices> loops;
  for (int64_t i = 0, e = op.getNumLoops(); i < e; ++i)
    if (i != 0 && areOneLoop(op, i - 1))
      loops.back().push_back(i);
    else
      loops.push_back({i});
  return loops;
}

/// Drops the input dimensions that are read at a constant index, e.g. because
/// an operand is broadcast. The loops on both sides of such a dimension can
/// then be collapsed.
static void dropSinglePlaces(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool isDropped = false;
  rewriter.setInsertionPoint(op);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap &map = maps[operand->getOperandNumber()];
    auto memref = dyn_cast<MemRefType>(operand->get().getType());
    if (!memref ||
        llvm::none_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>))
      continue;
    // Upstream cannot tell which of several unit dimensions a view drops.
    if (llvm::any_of(llvm::enumerate(map.getResults()), [&](auto result) {
          return !isa<AffineConstantExpr>(result.value()) &&
                 memref.getDimSize(result.index()) == 1;
        }))
      continue;
    SmallVector<OpFoldResult> offsets, sizes;
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> kept;
    for (auto [i, result] : llvm::enumerate(map.getResults())) {
      auto place = dyn_cast<AffineConstantExpr>(result);
      offsets.push_back(rewriter.getIndexAttr(place ? place.getValue() : 0));
      sizes.push_back(place ? rewriter.getIndexAttr(1)
                            : memref::getMixedSize(rewriter, op.getLoc(),
                                                   operand->get(), i));
      if (place)
        continue;
      kept.push_back(result);
      shape.push_back(memref.getDimSize(i));
    }
    SmallVector<OpFoldResult> strides(offsets.size(),
                                      rewriter.getIndexAttr(1));
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        shape, memref, offsets, sizes, strides);
    operand->set(memref::SubViewOp::create(rewriter, op.getLoc(), type,
                                           operand->get(), offsets, sizes,
                                           strides));
    map = AffineMap::get(map.getNumDims(), 0, kept, op.getContext());
    isDropped = true;
  }
  if (isDropped)
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

static bool canCollapse(linalg::GenericOp op) {
  return op.hasPureBufferSemantics() && op.getNumLoops() > 1 &&
         !op.hasIndexSemantics() &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// Merges equal views that were made for different operands. LLVM then sees
/// that an operand is read and written at the same address.
static void mergeViews(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto view = operand.get().getDefiningOp<memref::CollapseShapeOp>();
    if (!view)
      continue;
    for (Value earlier :
         op->getOperands().take_front(operand.getOperandNumber())) {
      auto other = earlier.getDefiningOp<memref::CollapseShapeOp>();
      if (other && other != view && other.getSrc() == view.getSrc() &&
          other.getType() == view.getType()) {
        operand.set(other);
        break;
      }
    }
  }
}

void CollapseLoopsPass::runOnOperation() {
  IRRewriter rewriter(&getContext());
  SmallVector<linalg::GenericOp> ops;
  getOperation()->walk([&](linalg::GenericOp op) {
    if (!op.hasPureBufferSemantics())
      return;
    dropSinglePlaces(rewriter, op);
    if (canCollapse(op))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    SmallVector<ReassociationIndices> loops = loopsOf(op);
    if (int64_t(loops.size()) == int64_t(op.getNumLoops()))
      continue;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> collapsed =
        linalg::collapseOpIterationDims(op, loops, rewriter);
    if (failed(collapsed))
      continue;
    mergeViews(collapsed->collapsedOp);
    rewriter.eraseOp(op);
    ++numCollapsed;
  }
}
