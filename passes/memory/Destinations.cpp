//===- Destinations.cpp - operands that are written in place --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/Destinations.h"

#include "passes/memory/ReadWriteConflict.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

using namespace mlir;
using namespace mlir::bufferization;
using namespace ingot;

namespace {

/// A range of program positions, both ends included. Positions number ops in
/// program order.
struct Span {
  unsigned first = 0, last = 0;

  bool meets(Span other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Reads or writes of one buffer, sorted by position.
class Accesses {
public:
  void add(OpOperand *use, Span span) {
    longest = std::max(longest, span.last - span.first);
    end = std::max(end, span.last);
    byPlace.insert({span.first, {span, use}});
  }

  /// Moves all accesses of `other` to this set.
  void merge(Accesses &other) {
    if (byPlace.size() < other.byPlace.size())
      std::swap(*this, other);
    for (auto &[place, access] : other.byPlace)
      add(access.second, access.first);
    other = Accesses();
  }

  size_t size() const { return byPlace.size(); }
  bool empty() const { return byPlace.empty(); }
  /// Returns the smallest span around all accesses.
  Span hull() const { return {byPlace.begin()->first, end}; }

  /// Returns true if the predicate holds for an access that meets the span.
  template <typename Predicate>
  bool anyWithin(Span span, Predicate predicate) const {
    unsigned from = span.first > longest ? span.first - longest : 0;
    for (auto at = byPlace.lower_bound(from);
         at != byPlace.end() && at->first <= span.last; ++at) {
      auto &[place, access] = *at;
      if (access.first.meets(span) && predicate(*access.second, access.first))
        return true;
    }
    return false;
  }

private:
  std::multimap<unsigned, std::pair<Span, OpOperand *>> byPlace;
  unsigned longest = 0, end = 0;
};

/// A set of values that may share a buffer.
struct Buffer {
  /// Reads, each with the span from the definition of the value to the read.
  Accesses reads;
  Accesses writes;
  bool isReadOnly = false;
  /// Index of the buffer that this one was merged into, or its own index.
  unsigned parent = 0;
};

class Destinations {
public:
  Destinations(func::FuncOp function, OneShotAnalysisState &state)
      : function(function), state(state), dominance(function) {}

  LogicalResult analyze();

private:
  unsigned numberOps(Region &region, unsigned next, bool isLoop);
  void addBuffer(Value value);
  LogicalResult checkForm();
  LogicalResult addFixed();
  void decide(OpOperand &operand);
  void findEquivalent(Operation *op);
  LogicalResult verifyHandedOver(MaterializeInDestinationOp op);
  LogicalResult verify();

  bool isRead(OpOperand &use) const;
  Span lifetimeOf(OpOperand &read, const SetVector<Value> &definitions) const;
  unsigned bufferOf(Value value);
  SmallVector<unsigned, 2> buffersOf(OpOperand &operand);
  bool isDisturbed(ArrayRef<unsigned> together, OpOperand *write);
  bool isDisturbed(const Accesses &reads, const Accesses &writes);
  void bufferizeInPlace(OpOperand &operand, ArrayRef<unsigned> together,
                        bool isWrite);

  func::FuncOp function;
  OneShotAnalysisState &state;
  DominanceInfo dominance;
  /// The position of each op, including its nested ops. Ops in a loop have the
  /// span of the whole loop.
  DenseMap<Operation *, Span> places;
  std::vector<Buffer> buffers;
  DenseMap<Value, unsigned> bufferNumbers;
};

} // namespace

static bool isTensor(Type type) { return isa<TensorType>(type); }

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Numbers the ops of a region. Blocks that branch to each other may form a
/// loop, so they get one common span.
unsigned Destinations::numberOps(Region &region, unsigned next, bool isLoop) {
  const BufferizationOptions &options = state.getOptions();
  unsigned first = next;
  isLoop |= llvm::hasNItemsOrMore(region, 2);
  for (Block &block : region)
    for (Operation &op : block) {
      unsigned from = next++;
      auto bufferizable = options.dynCastBufferizableOp(&op);
      for (Region &nested : op.getRegions())
        next = numberOps(
            nested, next,
            bufferizable &&
                bufferizable.isRepetitiveRegion(nested.getRegionNumber()));
      places[&op] = {from, next - 1};
    }
  if (isLoop && next != first)
    region.walk([&](Operation *op) { places[op] = {first, next - 1}; });
  return next;
}

/// Returns the span from the definitions of the value to its reader.
Span Destinations::lifetimeOf(OpOperand &read,
                              const SetVector<Value> &definitions) const {
  Span span = places.lookup(read.getOwner());
  for (Value definition : definitions) {
    Operation *op = getOwnerOfValue(definition);
    if (op != function)
      span.first = std::min(span.first, places.lookup(op).first);
    else
      span.first = 0;
  }
  return span;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Returns true if the use reads the value, or creates a view through which the
/// value is read.
bool Destinations::isRead(OpOperand &use) const {
  if (state.bufferizesToMemoryRead(use))
    return true;
  return !state.bufferizesToMemoryWrite(use) &&
         llvm::any_of(state.getAliasingValues(use), [&](AliasingValue alias) {
           return state.isValueRead(alias.value);
         });
}

void Destinations::addBuffer(Value value) {
  if (!isTensor(value.getType()))
    return;
  bufferNumbers[value] = buffers.size();
  Buffer &buffer = buffers.emplace_back();
  buffer.parent = buffers.size() - 1;
  buffer.isReadOnly = !state.isWritable(value);
  for (OpOperand &use : value.getUses()) {
    if (!isRead(use))
      continue;
    // Ignore a read without definitions. The read sees undefined contents, so
    // no write can disturb it.
    const SetVector<Value> &definitions = state.findDefinitionsCached(&use);
    if (!definitions.empty())
      buffer.reads.add(&use, lifetimeOf(use, definitions));
  }
}

unsigned Destinations::bufferOf(Value value) {
  unsigned at = bufferNumbers.lookup(value);
  while (buffers[at].parent != at)
    at = buffers[at].parent = buffers[buffers[at].parent].parent;
  return at;
}

/// Returns the buffers that would be merged if the operand were bufferized in
/// place.
SmallVector<unsigned, 2> Destinations::buffersOf(OpOperand &operand) {
  SmallVector<unsigned, 2> together = {bufferOf(operand.get())};
  for (AliasingValue alias : state.getAliasingValues(operand))
    if (unsigned other = bufferOf(alias.value);
        !llvm::is_contained(together, other))
      together.push_back(other);
  return together;
}

bool Destinations::isDisturbed(const Accesses &reads, const Accesses &writes) {
  if (reads.empty() || writes.empty() || !reads.hull().meets(writes.hull()))
    return false;
  auto check = [&](OpOperand &read, OpOperand &write) {
    return isDisturbedBy(read, write, dominance, state);
  };
  if (writes.size() < reads.size())
    return writes.anyWithin(
        reads.hull(), [&](OpOperand &write, Span at) {
          return reads.anyWithin(at, [&](OpOperand &read, Span) {
            return check(read, write);
          });
        });
  return reads.anyWithin(writes.hull(), [&](OpOperand &read, Span at) {
    return writes.anyWithin(
        at, [&](OpOperand &write, Span) { return check(read, write); });
  });
}

/// Returns true if merging the buffers, with `write` in place, would disturb a
/// read. Reads within each single buffer are known to be undisturbed.
bool Destinations::isDisturbed(ArrayRef<unsigned> together, OpOperand *write) {
  bool isAnyRead = false;
  for (unsigned a : together) {
    isAnyRead |= !buffers[a].reads.empty();
    for (unsigned b : together)
      if (a != b && isDisturbed(buffers[a].reads, buffers[b].writes))
        return true;
  }
  if (!write || !isAnyRead)
    return false;
  Span at = places.lookup(write->getOwner());
  return leavesParallelRegion(*write, state) ||
         llvm::any_of(together, [&](unsigned buffer) {
           return buffers[buffer].reads.anyWithin(
               at, [&](OpOperand &read, Span) {
                 return isDisturbedBy(read, *write, dominance, state);
               });
         });
}

void Destinations::bufferizeInPlace(OpOperand &operand,
                                    ArrayRef<unsigned> together, bool isWrite) {
  state.bufferizeInPlace(operand);
  Buffer &all = buffers[together.front()];
  for (unsigned other : together.drop_front()) {
    Buffer &merged = buffers[other];
    all.reads.merge(merged.reads);
    all.writes.merge(merged.writes);
    all.isReadOnly |= merged.isReadOnly;
    merged.parent = together.front();
  }
  if (isWrite)
    all.writes.add(&operand, places.lookup(operand.getOwner()));
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Checks the assumptions of the analysis.
LogicalResult Destinations::checkForm() {
  WalkResult result = function.walk([&](BufferizableOpInterface op) {
    if (!op.supportsUnstructuredControlFlow() &&
        llvm::any_of(op->getRegions(), [](Region &region) {
          return llvm::hasNItemsOrMore(region, 2);
        })) {
      op->emitOpError("expects regions of one block each");
      return WalkResult::interrupt();
    }
    auto toTensor = dyn_cast<ToTensorOp>(*op);
    if (toTensor && !toTensor.getRestrict() && !toTensor->use_empty()) {
      op->emitOpError("expects 'restrict': what it reads may be anything else");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Records operands that must be bufferized in place.
LogicalResult Destinations::addFixed() {
  WalkResult result = function.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTensor(operand.get().getType()) || !state.isInPlace(operand))
        continue;
      bool isWrite = state.bufferizesToMemoryWrite(operand);
      SmallVector<unsigned, 2> together = buffersOf(operand);
      if (isDisturbed(together, isWrite ? &operand : nullptr)) {
        op->emitOpError("must write where another op still reads");
        return WalkResult::interrupt();
      }
      bufferizeInPlace(operand, together, isWrite);
      Buffer &buffer = buffers[bufferOf(operand.get())];
      if (buffer.isReadOnly && !buffer.writes.empty()) {
        op->emitOpError("must write to what is read only");
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Destinations::decide(OpOperand &operand) {
  bool isWrite = state.bufferizesToMemoryWrite(operand);
  SmallVector<unsigned, 2> together = buffersOf(operand);
  auto any = [&](auto predicate) {
    return llvm::any_of(together, [&](unsigned buffer) {
      return predicate(buffers[buffer]);
    });
  };
  bool isWritten =
      isWrite || any([](Buffer &buffer) { return !buffer.writes.empty(); });
  bool isReadOnly = any([](Buffer &buffer) { return buffer.isReadOnly; });
  if ((isWritten && isReadOnly) ||
      isDisturbed(together, isWrite ? &operand : nullptr))
    state.bufferizeOutOfPlace(operand);
  else
    bufferizeInPlace(operand, together, isWrite);
}

/// Records results that are equivalent to an operand.
void Destinations::findEquivalent(Operation *op) {
  auto bufferizable = state.getOptions().dynCastBufferizableOp(op);
  if (!bufferizable)
    return;
  for (OpResult result : op->getResults()) {
    if (!isTensor(result.getType()))
      continue;
    AliasingOpOperandList aliases = state.getAliasingOpOperands(result);
    if (aliases.getNumAliases() == 0)
      continue;
    auto isEquivalent = [&](const AliasingOpOperand &alias) {
      return alias.relation == BufferRelation::Equivalent &&
             state.isInPlace(*alias.opOperand);
    };
    auto *certain = llvm::find_if(aliases, [&](const AliasingOpOperand &alias) {
      return alias.isDefinite && isEquivalent(alias);
    });
    if (certain != aliases.end()) {
      state.unionEquivalenceClasses(result, certain->opOperand->get());
      continue;
    }
    // The result is one of several operands, and all of them are equivalent.
    Value first = aliases.begin()->opOperand->get();
    bool areAll = llvm::all_of(aliases, [&](const AliasingOpOperand &alias) {
      return isEquivalent(alias) && state.areEquivalentBufferizedValues(
                                        alias.opOperand->get(), first);
    });
    if (areAll && !bufferizable.bufferizesToAllocation(result))
      state.unionEquivalenceClasses(result, first);
  }
}

/// Checks a write to memory of the host. The destination is a memref, so the
/// analysis of tensors does not see this write. The write overwrites any tensor
/// in that memory.
LogicalResult Destinations::verifyHandedOver(MaterializeInDestinationOp op) {
  if (isa<TensorType>(op.getDest().getType()))
    return success();
  unsigned source = bufferOf(op.getSource());
  Span from = {places.lookup(op).last + 1, ~0u};
  for (Operation *user : op.getDest().getUsers()) {
    auto tensor = dyn_cast<ToTensorOp>(user);
    if (!tensor || bufferOf(tensor) == source)
      continue;
    const Buffer &buffer = buffers[bufferOf(tensor)];
    if (!buffer.writes.empty() &&
        buffer.reads.anyWithin(from, [](OpOperand &, Span) { return true; }))
      return op->emitOpError("must write where another op still reads");
  }
  return success();
}

LogicalResult Destinations::verify() {
  bool isValid = true;
  function.walk([&](Operation *op) {
    if (auto bufferizable = state.getOptions().dynCastBufferizableOp(op))
      isValid &= succeeded(bufferizable.verifyAnalysis(state));
    if (auto handedOver = dyn_cast<MaterializeInDestinationOp>(op))
      isValid &= succeeded(verifyHandedOver(handedOver));
  });
  return success(isValid);
}

LogicalResult Destinations::analyze() {
  if (failed(checkForm()))
    return failure();
  numberOps(function.getBody(), /*next=*/1, /*isLoop=*/false);
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      addBuffer(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          addBuffer(argument);
    if (hasTensorSemantics(op))
      ops.push_back(op);
  });
  if (failed(addFixed()))
    return failure();
  // Decide backwards, so that the last user of a value may reuse its buffer.
  for (Operation *op : llvm::reverse(ops))
    for (OpOperand &operand : op->getOpOperands())
      if (isTensor(operand.get().getType()) && !state.isInPlace(operand))
        decide(operand);
  for (Operation *op : ops)
    findEquivalent(op);
  state.gatherUndefinedTensorUses(function);
  return verify();
}

LogicalResult ingot::analyzeDestinations(Operation *module,
                                         OneShotAnalysisState &state) {
  WalkResult result = module->walk([&](func::FuncOp function) {
    if (!function.isExternal() &&
        failed(Destinations(function, state).analyze()))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
