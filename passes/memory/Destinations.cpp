//===- Destinations.cpp - which operands are written in place -------------===//
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

/// From a place in the program to another, both included. Places are ops in the
/// order in which they are written.
struct Span {
  unsigned first = 0, last = 0;

  bool meets(Span other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Reads or writes of one buffer, by place.
class Accesses {
public:
  void add(OpOperand *use, Span span) {
    longest = std::max(longest, span.last - span.first);
    end = std::max(end, span.last);
    byPlace.insert({span.first, {span, use}});
  }

  /// Takes over the other's.
  void merge(Accesses &other) {
    if (byPlace.size() < other.byPlace.size())
      std::swap(*this, other);
    for (auto &[place, access] : other.byPlace)
      add(access.second, access.first);
    other = Accesses();
  }

  size_t size() const { return byPlace.size(); }
  bool empty() const { return byPlace.empty(); }
  /// Around all of them.
  Span hull() const { return {byPlace.begin()->first, end}; }

  /// Whether the predicate is true of one that meets the span.
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

/// All values that may share a buffer.
struct Buffer {
  /// From the definition of what is read to the read.
  Accesses reads;
  Accesses writes;
  bool isReadOnly = false;
  /// Another one that this was merged into, or itself.
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
  /// The place of each op and of what is nested in it; in a loop, that of the
  /// whole loop.
  DenseMap<Operation *, Span> places;
  std::vector<Buffer> buffers;
  DenseMap<Value, unsigned> bufferNumbers;
};

} // namespace

static bool isTensor(Type type) { return isa<TensorType>(type); }

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Blocks that branch to each other may be a loop: they are one place.
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

/// From what defines the value to the end of who reads it.
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

/// Whether the use reads, or makes a view that somebody reads.
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
    // What nothing defines yet cannot be disturbed.
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

/// Those that would be one if the operand were bufferized in place.
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

/// Whether a read would be disturbed if the buffers were one, and `write` in
/// place. Nothing is disturbed within one of them yet.
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

/// What the analysis takes for granted of its input.
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

/// Some operands have no choice.
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

/// Notes which results are exactly where an operand is.
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
    // One of several, all of which are at one place.
    Value first = aliases.begin()->opOperand->get();
    bool areAll = llvm::all_of(aliases, [&](const AliasingOpOperand &alias) {
      return isEquivalent(alias) && state.areEquivalentBufferizedValues(
                                        alias.opOperand->get(), first);
    });
    if (areAll && !bufferizable.bufferizesToAllocation(result))
      state.unionEquivalenceClasses(result, first);
  }
}

/// What goes into memory of the host overwrites any tensor that lies there: the
/// operand is no tensor, so no rule above has seen this write.
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
  // Backwards, so that the last user of a value gets its buffer.
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
