//===- EliminateEmpties.cpp - ingot-eliminate-empties ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/Destinations.h"
#include "passes/memory/Passes.h"
#include "passes/memory/ReadWriteConflict.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

namespace ingot {
#define GEN_PASS_DEF_ELIMINATEEMPTIES
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;

/// Gives each use of an empty tensor its own empty tensor, just before the use.
/// A shared empty tensor would count as one buffer, which lives from the first
/// use to the last.
static void separateUses(Operation *empty) {
  Block *block = empty->getBlock();
  OpBuilder builder(empty->getContext());
  for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    if (empty->hasOneUse())
      return;
    builder.setInsertionPoint(user);
    use.set(builder.clone(*empty)->getResult(0));
  }
}

/// Gives each use of a cast of an empty tensor a cast of its own. Several lists
/// that a loop carries may start with one cast, because canonicalization merges
/// equal casts.
static void separateCasts(tensor::EmptyOp empty) {
  SmallVector<Operation *> casts;
  for (Operation *user : empty->getUsers())
    if (isa<tensor::CastOp>(user))
      casts.push_back(user);
  llvm::for_each(casts, separateUses);
}

/// Returns true if all ops between an empty tensor and the source of
/// `insertion` write in place. Upstream also follows ops that do not write in
/// place. The operands of such ops would then lie in the destination, and could
/// be overwritten while they are still needed.
static bool isInPlaceAllTheWay(SubsetInsertionOpInterface insertion,
                               const bufferization::AnalysisState &state) {
  bufferization::TraversalConfig config;
  config.followEquivalentOnly = true;
  config.alwaysIncludeLeaves = false;
  config.followSameTypeOrCastsOnly = true;
  auto findEmpties = [&](bool inPlaceOnly) {
    config.followInPlaceOnly = inPlaceOnly;
    return state.findValueInReverseUseDefChain(
        &insertion.getSourceOperand(),
        [](Value value) {
          return isa_and_present<tensor::EmptyOp>(value.getDefiningOp());
        },
        config);
  };
  return findEmpties(true).size() == findEmpties(false).size();
}

/// The minimum number of inserts in a chain, or in a block, for moving chains.
/// With fewer inserts, chains are not moved, because the search for needed
/// values is cheap.
static constexpr size_t kMovedChain = 64, kMovedInserts = 1000;

namespace {

/// Moves ops of a block up, to just after the ops that they depend on.
class Mover {
public:
  explicit Mover(Block &block) {
    for (Operation &op : block)
      places[&op] = {places.size() + 1, 0};
  }

  /// Returns the later of two ops; null stands for the front of the block.
  Operation *later(Operation *a, Operation *b) const {
    return !a || (b && places.lookup(a) < places.lookup(b)) ? b : a;
  }
  /// Moves `op` behind `mark`, and behind all ops that were moved there before.
  void moveBehind(Operation *op, Operation *mark);
  /// Returns the last op of the block that defines an operand of `op`, ignoring
  /// the operand `except`.
  Operation *lastSourceOf(Operation *op, OpOperand *except) const;

private:
  /// Sort key of each op. The first number is the position of an op that did
  /// not move. The second number counts the moves behind this position.
  DenseMap<Operation *, std::pair<size_t, size_t>> places;
  /// The last op that was moved behind each position.
  DenseMap<size_t, Operation *> lastBehind;
  size_t moves = 0;
};

} // namespace

void Mover::moveBehind(Operation *op, Operation *mark) {
  size_t at = mark ? places.lookup(mark).first : 0;
  Operation *&last = lastBehind[at];
  if (Operation *before = last ? last : mark)
    op->moveAfter(before);
  else
    op->moveBefore(op->getBlock(), op->getBlock()->begin());
  last = op;
  places[op] = {at, ++moves};
}

Operation *Mover::lastSourceOf(Operation *op, OpOperand *except) const {
  Operation *last = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *source = operand.get().getDefiningOp();
    if (&operand != except && source && source->getBlock() == op->getBlock())
      last = later(last, source);
  }
  return last;
}

/// Returns a chain of inserts. Each inserts into the result of the previous
/// one, which has no other users.
static SmallVector<tensor::InsertSliceOp> chainFrom(tensor::InsertSliceOp op) {
  SmallVector<tensor::InsertSliceOp> chain;
  while (op) {
    chain.push_back(op);
    Operation *user = op->hasOneUse() ? *op->getUsers().begin() : nullptr;
    auto next = dyn_cast_or_null<tensor::InsertSliceOp>(user);
    bool goesOn = next && next->getBlock() == op->getBlock() &&
                  next.getDest() == op.getResult();
    op = goesOn ? next : tensor::InsertSliceOp();
  }
  return chain;
}

/// Moves each insert of a long chain, e.g. of a Concat, behind its source and
/// before the next source. `eliminateEmptyTensors` needs the destination before
/// the source is computed. Without this function, it would move the rest of the
/// chain for each insert.
static void moveChains(Block &block) {
  auto inserts = block.getOps<tensor::InsertSliceOp>();
  size_t shortest =
      llvm::hasNItemsOrMore(inserts, kMovedInserts) ? 1 : kMovedChain;
  SmallVector<SmallVector<tensor::InsertSliceOp>> chains;
  for (tensor::InsertSliceOp op : inserts)
    if (auto empty = op.getDest().getDefiningOp<tensor::EmptyOp>();
        empty && empty->hasOneUse() && empty->getBlock() == &block)
      if (auto chain = chainFrom(op); chain.size() >= shortest)
        chains.push_back(std::move(chain));
  if (chains.empty())
    return;
  Mover mover(block);
  for (SmallVector<tensor::InsertSliceOp> &chain : chains) {
    Operation *empty = chain.front().getDest().getDefiningOp();
    Operation *mark = mover.lastSourceOf(empty, /*except=*/nullptr);
    mover.moveBehind(empty, mark);
    mark = empty;
    for (tensor::InsertSliceOp op : chain) {
      mark = mover.later(mark, mover.lastSourceOf(op, &op.getDestMutable()));
      mover.moveBehind(op, mark);
      mark = op;
    }
  }
}

/// Moves empty tensors down to their first user, because the lifetime of a
/// buffer begins at its empty tensor.
static void sinkEmpties(Block &block) {
  auto empties = llvm::to_vector(block.getOps<tensor::EmptyOp>());
  if (empties.empty())
    return;
  DenseMap<Operation *, size_t> places;
  for (Operation &op : block)
    places[&op] = places.size();
  for (tensor::EmptyOp empty : empties) {
    Operation *first = nullptr;
    for (Operation *user : empty->getUsers()) {
      Operation *op = block.findAncestorOpInBlock(*user);
      if (!first || places.lookup(op) < places.lookup(first))
        first = op;
    }
    if (first)
      empty->moveBefore(first);
    else
      empty->erase();
  }
}

/// Replaces a reshaped empty tensor by an empty tensor of the other shape. The
/// tensor may then become a slice of a larger tensor of that shape.
static void foldReshapedEmpties(Operation *module) {
  RewritePatternSet patterns(module->getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  ingot::rewriteInOneWalk(module, std::move(patterns));
}

namespace {
struct EliminateEmptiesPass
    : ingot::impl::EliminateEmptiesBase<EliminateEmptiesPass> {
  void runOnOperation() override {
    foldReshapedEmpties(getOperation());
    SmallVector<tensor::EmptyOp> empties;
    getOperation()->walk(
        [&](tensor::EmptyOp empty) { empties.push_back(empty); });
    for (tensor::EmptyOp empty : empties) {
      separateCasts(empty);
      separateUses(empty);
    }
    getOperation()->walk([](func::FuncOp function) {
      for (Block &block : function.getBody())
        moveChains(block);
    });

    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    options.bufferizeFunctionBoundaries = true;
    bufferization::OneShotAnalysisState state(getOperation(), options);
    if (failed(ingot::analyzeDestinations(getOperation(), state)))
      return signalPassFailure();
    SmallVector<SubsetInsertionOpInterface> insertions;
    getOperation()->walk([&](Operation *op) {
      if (SubsetInsertionOpInterface insertion = ingot::getInsertion(op))
        insertions.push_back(insertion);
    });
    IRRewriter rewriter(&getContext());
    // Process insertions backwards, so that a tensor has its final place before
    // its parts get theirs.
    for (SubsetInsertionOpInterface op : llvm::reverse(insertions))
      if (isInPlaceAllTheWay(op, state) &&
          failed(bufferization::eliminateEmptyTensors(rewriter, op, state)))
        return signalPassFailure();
    getOperation()->walk([](Block *block) { sinkEmpties(*block); });
  }
};
} // namespace
