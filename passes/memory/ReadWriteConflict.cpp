//===- ReadWriteConflict.cpp - does a write disturb a read ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of upstream's one-shot analysis, for one pair of
// operands.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ReadWriteConflict.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::bufferization;

/// Whether `a` has ended before `b` starts.
static bool endsBefore(Operation *a, Operation *b,
                       const DominanceInfo &dominance) {
  for (; a; a = a->getParentOp()) {
    if (a->isProperAncestor(b))
      return false;
    if (dominance.properlyDominates(a, b))
      return true;
  }
  return false;
}

/// In a loop around both, but not around what defines the value, a write of one
/// iteration comes before a read of the next: the order of ops says nothing.
static bool isLoopBetween(OpOperand &read, OpOperand &write, Value definition,
                          OneShotAnalysisState &state) {
  const BufferizationOptions &options = state.getOptions();
  Region *around = state.getEnclosingRepetitiveRegion(definition, options);
  Region *outermost = nullptr;
  for (Region *loop =
           state.getEnclosingRepetitiveRegion(read.getOwner(), options);
       loop && loop != around;
       loop = getNextEnclosingRepetitiveRegion(loop, options))
    outermost = loop;
  return outermost && outermost->getParentOp()->isAncestor(write.getOwner());
}

/// The same with blocks that branch to each other.
static bool isCycleBetween(OpOperand &read, OpOperand &write,
                           Value definition) {
  Block *reading = read.getOwner()->getBlock();
  Block *writing = write.getOwner()->getBlock();
  if (reading->getParent() != writing->getParent() ||
      reading->getParent()->hasOneBlock())
    return false;
  Block *defining = definition.getParentBlock();
  return reading->isReachable(writing, {defining}) &&
         writing->isReachable(reading, {defining});
}

/// Whether `other` is what `start` has, in the same shape, on the way back
/// through ops that keep the buffer.
static bool comesFrom(const AnalysisState &state, OpOperand &start,
                      Value other) {
  TraversalConfig config;
  config.followEquivalentOnly = true;
  config.alwaysIncludeLeaves = false;
  config.followSameTypeOrCastsOnly = true;
  return !state
              .findValueInReverseUseDefChain(
                  &start, [&](Value value) { return value == other; }, config)
              .empty();
}

/// Ops that read each element before they write the one at the same place may
/// do both in one buffer.
static bool isElementwise(OpOperand &read, OpOperand &write,
                          const AnalysisState &state) {
  auto op = state.getOptions().dynCastBufferizableOp(read.getOwner());
  return op && op.bufferizesToElementwiseAccess(state, {&read, &write}) &&
         (comesFrom(state, read, write.get()) ||
          comesFrom(state, write, read.get()));
}

// The dialect of vectors promises an implementation, which is asserted to be
// registered; it has no place for what is no tensor.
SubsetInsertionOpInterface ingot::getInsertion(Operation *op) {
  if (isa<vector::TransferWriteOp>(op))
    return {};
  return dyn_cast<SubsetInsertionOpInterface>(op);
}

/// Whether all that `operand` may stand for is the slice that `insertion`
/// writes to.
static bool isSliceOf(OpOperand &operand, SubsetInsertionOpInterface insertion,
                      const AnalysisState &state) {
  auto isSlice = [&](Value value) {
    auto result = dyn_cast<OpResult>(value);
    return result &&
           insertion.isEquivalentSubset(result, [&](Value a, Value b) {
             return state.areEquivalentBufferizedValues(a, b);
           });
  };
  return llvm::all_of(state.findValueInReverseUseDefChain(&operand, isSlice),
                      isSlice);
}

/// Reads and writes around `insert_slice` that concern different parts of the
/// tensor, or write what is there already.
static bool areApart(OpOperand &read, OpOperand &write,
                     const AnalysisState &state) {
  if (auto insertion = ingot::getInsertion(read.getOwner())) {
    OpOperand &destination = insertion.getDestinationOperand();
    // Of the destination it reads what it does not overwrite.
    if (&read == &destination && isSliceOf(write, insertion, state))
      return true;
    // The source is computed at its place.
    if (&read == &insertion.getSourceOperand() && &write == &destination &&
        isSliceOf(read, insertion, state))
      return true;
  }
  auto insertion = ingot::getInsertion(write.getOwner());
  return insertion && &write == &insertion.getDestinationOperand() &&
         state.areEquivalentBufferizedValues(
             read.get(), insertion.getSourceOperand().get()) &&
         isSliceOf(insertion.getSourceOperand(), insertion, state);
}

/// Whether the ops' own rules allow it.
static bool isAllowed(OpOperand &read, OpOperand &write,
                      const AnalysisState &state) {
  auto allows = [&](Operation *op) {
    auto bufferizable = state.getOptions().dynCastBufferizableOp(op);
    return bufferizable && bufferizable.isNotConflicting(&read, &write, state);
  };
  return allows(read.getOwner()) ||
         (write.getOwner() != read.getOwner() && allows(write.getOwner()));
}

/// Whether `write` comes between `definition` and whoever reads it.
static bool isBehind(OpOperand &write, Value definition,
                     const DominanceInfo &dominance,
                     const AnalysisState &state) {
  Operation *writer = write.getOwner();
  if (Operation *op = definition.getDefiningOp()) {
    if (endsBefore(writer, op, dominance) || op->isProperAncestor(writer))
      return false;
  } else if (!cast<BlockArgument>(definition)
                  .getOwner()
                  ->findAncestorOpInBlock(*writer)) {
    return false;
  }
  // It is what defines the value.
  AliasingValueList values = state.getAliasingValues(write);
  return values.getNumAliases() != 1 ||
         values.getAliases()[0].value != definition;
}

bool ingot::isDisturbedBy(OpOperand &read, OpOperand &write,
                          const DominanceInfo &dominance,
                          OneShotAnalysisState &state) {
  const SetVector<Value> &definitions = state.findDefinitionsCached(&read);
  bool isOrdered = llvm::none_of(definitions, [&](Value definition) {
    return isLoopBetween(read, write, definition, state) ||
           isCycleBetween(read, write, definition);
  });
  Operation *reader = read.getOwner(), *writer = write.getOwner();
  if (isOrdered) {
    if (&read == &write || endsBefore(reader, writer, dominance) ||
        state.insideMutuallyExclusiveRegions(reader, writer))
      return false;
    if (reader == writer && isElementwise(read, write, state))
      return false;
  }
  // What comes next may look at all that the values are made of.
  return llvm::any_of(definitions,
                      [&](Value definition) {
                        return isBehind(write, definition, dominance, state);
                      }) &&
         !areApart(read, write, state) && !isAllowed(read, write, state);
}

bool ingot::leavesParallelRegion(OpOperand &write,
                                 const AnalysisState &state) {
  const BufferizationOptions &options = state.getOptions();
  Region *region =
      getParallelRegion(write.getOwner()->getParentRegion(), options);
  // What made the buffer, if nothing wrote to it yet.
  SetVector<Value> origins =
      state.findValueInReverseUseDefChain(&write, [&](Value value) {
        return state.bufferizesToMemoryWrite(value);
      });
  return llvm::any_of(origins, [&](Value origin) {
    return getParallelRegion(origin.getParentRegion(), options) != region;
  });
}
