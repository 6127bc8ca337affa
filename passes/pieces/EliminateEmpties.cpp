//===- EliminateEmpties.cpp - ingot-eliminate-empties ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/Destinations.h"
#include "passes/pieces/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

namespace ingot {
#define GEN_PASS_DEF_ELIMINATEEMPTIES
#include "passes/pieces/Passes.h.inc"
} // namespace ingot

using namespace mlir;

/// Gives each use of an empty tensor one of its own, in front of it. One that
/// all ops of a type write to would be one buffer, as far as one can see, and
/// live from the first to the last of them.
static void separateUses(tensor::EmptyOp empty) {
  Block *block = empty->getBlock();
  OpBuilder builder(empty.getContext());
  for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    if (empty->hasOneUse())
      return;
    builder.setInsertionPoint(user);
    use.set(builder.clone(*empty)->getResult(0));
  }
}

/// Whether every op between an empty tensor and what `insertion` puts into its
/// destination writes in place. Upstream follows the others, too: what they read
/// would lie in the destination, though it may be needed after the destination
/// gets what it is for.
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

namespace {
struct EliminateEmptiesPass
    : ingot::impl::EliminateEmptiesBase<EliminateEmptiesPass> {
  void runOnOperation() override {
    SmallVector<tensor::EmptyOp> empties;
    getOperation()->walk(
        [&](tensor::EmptyOp empty) { empties.push_back(empty); });
    llvm::for_each(empties, separateUses);

    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    options.bufferizeFunctionBoundaries = true;
    bufferization::OneShotAnalysisState state(getOperation(), options);
    if (failed(ingot::analyzeDestinations(getOperation(), state)))
      return signalPassFailure();
    SmallVector<SubsetInsertionOpInterface> insertions;
    getOperation()->walk(
        [&](SubsetInsertionOpInterface op) { insertions.push_back(op); });
    IRRewriter rewriter(&getContext());
    // Backwards: a tensor has its final place before its parts are given
    // theirs.
    for (SubsetInsertionOpInterface op : llvm::reverse(insertions))
      if (isInPlaceAllTheWay(op, state) &&
          failed(bufferization::eliminateEmptyTensors(rewriter, op, state)))
        return signalPassFailure();
    SmallVector<tensor::EmptyOp> unused;
    getOperation()->walk([&](tensor::EmptyOp empty) {
      if (empty->use_empty())
        unused.push_back(empty);
    });
    for (tensor::EmptyOp empty : unused)
      empty->erase();
  }
};
} // namespace
