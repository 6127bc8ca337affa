//===- ReadWriteConflict.cpp - conflicts of writes and reads --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the rules of upstream's one-shot analysis for one pair of
// operands.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ReadWriteConflict.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::bufferization;

/// Returns true if `a` ends before `b` starts.
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

/// Returns true if a loop contains `read` and `write`, but not the definition
/// of the value. The write of one iteration then precedes the read of the next,
/// so that the order of ops does not matter.
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

/// Returns true if a cycle of blocks contains `read` and `write`, but not the
/// definition of the value.
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

/// Returns true if `start` goes back to `other` through ops that keep the
/// buffer and the shape.
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

/// Returns true if an elementwise op reads each element before it writes the
/// element at the same index. Both may then use one buffer.
static bool isElementwise(OpOperand &read, OpOperand &write,
                          const AnalysisState &state) {
  auto op = state.getOptions().dynCastBufferizableOp(read.getOwner());
  return op && op.bufferizesToElementwiseAccess(state, {&read, &write}) &&
         (comesFrom(state, read, write.get()) ||
          comesFrom(state, write, read.get()));
}

// Exclude vector ops, because they do not insert tensors into tensors. Querying
// a vector op would fail an assertion, because it promises an implementation of
// the interface that is not registered.
SubsetInsertionOpInterface ingot::getInsertion(Operation *op) {
  if (isa<vector::TransferWriteOp>(op))
    return {};
  return dyn_cast<SubsetInsertionOpInterface>(op);
}

/// Returns true if `operand` can only be the slice that `insertion` writes to.
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

/// Returns true if a read and a write around an `insert_slice` access different
/// parts of the tensor. Also returns true if the write does not change the
/// elements.
static bool areApart(OpOperand &read, OpOperand &write,
                     const AnalysisState &state) {
  if (auto insertion = ingot::getInsertion(read.getOwner())) {
    OpOperand &destination = insertion.getDestinationOperand();
    // Allows a write to the inserted slice, because the insertion reads only
    // the rest of the destination.
    if (&read == &destination && isSliceOf(write, insertion, state))
      return true;
    // Allows a source that is computed in its place in the destination.
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

/// Returns true if the ops themselves allow the read and the write.
static bool isAllowed(OpOperand &read, OpOperand &write,
                      const AnalysisState &state) {
  auto allows = [&](Operation *op) {
    auto bufferizable = state.getOptions().dynCastBufferizableOp(op);
    return bufferizable && bufferizable.isNotConflicting(&read, &write, state);
  };
  return allows(read.getOwner()) ||
         (write.getOwner() != read.getOwner() && allows(write.getOwner()));
}

/// Returns true if `write` comes between `definition` and its readers.
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
  // Ignores a write that defines the value, because it does not conflict with
  // it.
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
  // Check the cheap conditions first, because the other conditions may visit
  // all ops that compute the values.
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
  // The ops that allocated the buffer, if no op has written to it yet.
  SetVector<Value> origins =
      state.findValueInReverseUseDefChain(&write, [&](Value value) {
        return state.bufferizesToMemoryWrite(value);
      });
  return llvm::any_of(origins, [&](Value origin) {
    return getParallelRegion(origin.getParentRegion(), options) != region;
  });
}
