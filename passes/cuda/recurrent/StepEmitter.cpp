//===- StepEmitter.cpp - code of a step of a recurrence -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/recurrent/StepEmitter.h"

#include "passes/cuda/products/StoreRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Steps along a row that are written out instead of a loop, so that their
/// loads are in flight together.
static constexpr int64_t kUnrolledSteps = 2;

void StepBuffers::collect(bool isReset, SmallVectorImpl<Value *> &reads,
                          SmallVectorImpl<Value *> &writes) {
  auto add = [](SmallVectorImpl<Value *> &to, Value &value) {
    if (value)
      to.push_back(&value);
  };
  for (Value *value : {&src, &before, &late, &mask})
    add(reads, *value);
  for (SmallVector<Value> *values : {&weights, &columns})
    for (Value &value : *values)
      add(reads, value);
  for (Value &value : states)
    add(isReset ? reads : writes, value);
  add(writes, all);
  add(writes, after);
}

StepEmitter::StepEmitter(OpBuilder &b, const Recurrence &facts, bool isReset)
    : code(b, RecurrentOp(facts.op).getLoc()), b(b), loc(code.loc),
      facts(facts), op(facts.op), schedule(*op.getSchedule()),
      isReset(isReset) {}

Region &StepEmitter::body() { return isReset ? op.getReset() : op.getCell(); }

size_t StepEmitter::numWeights() {
  return op.getGates().size() - (isReset ? 1 : 0);
}

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

/// Returns the type of an element in memory. A condition has a byte.
static Type storedType(OpBuilder &b, Type element) {
  return element.isInteger(1) ? b.getI8Type() : element;
}

/// Returns the address of an element of a memref of the thread's direction.
Value StepEmitter::addressOf(FieldFn field, ArrayRef<Value> indices) {
  Value address;
  for (auto [d, buffers] : llvm::enumerate(directions)) {
    Value memref = field(buffers);
    StridedLayout layout = StridedLayout::of(memref);
    layout.resolve(code, memref);
    Value offset = code.number(0);
    for (auto [index, stride] : llvm::zip_equal(indices, layout.strides))
      offset = code.add(offset, code.multiply(index, stride));
    Value own = code.shift(code.addressOf(memref),
                           storedType(b, layout.element), offset);
    address =
        address ? code.select(code.equals(direction, int64_t(d)), own, address)
                : own;
  }
  return address;
}

Value StepEmitter::load(FieldFn field, ArrayRef<Value> indices) {
  Type element = getElementTypeOrSelf(field(directions.front()).getType());
  Type stored = storedType(b, element);
  Value value = code.load(addressOf(field, indices), stored,
                          stored.getIntOrFloatBitWidth() / 8);
  if (stored == element)
    return value;
  Value zero = arith::ConstantIntOp::create(b, loc, stored, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

void StepEmitter::store(Value value, FieldFn field, ArrayRef<Value> indices) {
  code.store(value, addressOf(field, indices),
             value.getType().getIntOrFloatBitWidth() / 8);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Adds the products of `count` neighboring elements to the sums. `rows` and
/// `sequences` are addresses of rows of weights and of states.
void StepEmitter::addVector(ArrayRef<Value> rows, ArrayRef<Value> sequences,
                            Value at, int64_t count,
                            SmallVectorImpl<Value> &sums) {
  Type element = op.getProductType(), f32 = b.getF32Type();
  SmallVector<SmallVector<Value>> factors;
  for (Value row : rows) {
    factors.push_back(
        loadElements(code, code.shift(row, element, at), element, count));
    if (!element.isF32())
      for (Value &factor : factors.back())
        factor = arith::ExtFOp::create(b, loc, f32, factor);
  }
  for (auto [j, sequence] : llvm::enumerate(sequences)) {
    SmallVector<Value> states =
        loadElements(code, code.shift(sequence, f32, at), f32, count);
    for (auto [k, state] : llvm::enumerate(states))
      for (auto [g, row] : llvm::enumerate(factors)) {
        Value &sum = sums[g * sequences.size() + j];
        sum = LLVM::FMAOp::create(b, loc, row[k], state, sum);
      }
  }
}

/// Lets `add` change the sums of threads for which `condition` holds.
void StepEmitter::addIf(Value condition, SmallVectorImpl<Value> &sums,
                        function_ref<void(SmallVectorImpl<Value> &)> add) {
  auto branch = scf::IfOp::create(b, loc, ValueRange(sums).getTypes(),
                                  condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, sums);
  b.setInsertionPointToStart(branch.thenBlock());
  add(sums);
  scf::YieldOp::create(b, loc, sums);
  llvm::copy(branch.getResults(), sums.begin());
}

/// Adds the thread's part of the products with weights number `i`. `sums` gets
/// a sum for each gate that the body uses and each sequence.
void StepEmitter::addRow(size_t i, int64_t firstGate,
                         SmallVectorImpl<Value> &sums) {
  const int64_t threads = schedule.getThreads(), vector = facts.vector;
  SmallVector<Value> rows, sequences;
  Value row = isUnit ? code.select(isUnit, unit, code.number(0)) : unit;
  for (int64_t gate = 0; gate < op.getGates()[i]; ++gate)
    if (!body().getArgument(unsigned(firstGate + gate)).use_empty())
      rows.push_back(addressOf(
          [=](const StepBuffers &buffers) { return buffers.weights[i]; },
          {code.add(row, gate * facts.hidden), code.number(0)}));
  if (rows.empty())
    return;
  const bool isLate = !isReset && op.hasReset() && i + 1 == numWeights();
  for (int64_t j = 0; j < schedule.getBatch(); ++j) {
    Value sequence = code.add(first, j);
    if (!batch.isMultipleOf(schedule.getBatch()))
      sequence =
          code.select(code.isWithin(sequence, batch), sequence, code.number(0));
    sequences.push_back(addressOf(
        [=](const StepBuffers &buffers) {
          return isLate ? buffers.late : buffers.before;
        },
        {sequence, code.number(0)}));
  }
  sums.assign(rows.size() * sequences.size(), code.zero());
  // A step takes a vector for each thread.
  const int64_t vectors = facts.hidden / vector, steps = vectors / threads;
  auto addSteps = [&](Value step, int64_t count, SmallVectorImpl<Value> &to) {
    for (int64_t k = 0; k < count; ++k) {
      Value number =
          code.add(code.multiply(code.add(step, k), threads), member);
      addVector(rows, sequences, code.multiply(number, vector), vector, to);
    }
  };
  const int64_t looped =
      steps > kUnrolledSteps ? steps / kUnrolledSteps * kUnrolledSteps : 0;
  if (looped > 0) {
    auto loop =
        scf::ForOp::create(b, loc, code.number(0), code.number(looped),
                           code.number(kUnrolledSteps), ValueRange(sums));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next(loop.getRegionIterArgs());
    addSteps(loop.getInductionVar(), kUnrolledSteps, next);
    scf::YieldOp::create(b, loc, next);
    llvm::copy(loop.getResults(), sums.begin());
  }
  addSteps(code.number(looped), steps - looped, sums);
  if (const int64_t rest = vectors % threads)
    addIf(code.isWithin(member, rest), sums, [&](SmallVectorImpl<Value> &to) {
      addSteps(code.number(steps), 1, to);
    });
  // The elements behind the last whole vector.
  const int64_t tail = facts.hidden % vector;
  for (int64_t k = 0; k < tail; k += threads) {
    auto add = [&](SmallVectorImpl<Value> &to) {
      addVector(rows, sequences, code.add(member, vectors * vector + k),
                /*count=*/1, to);
    };
    if (tail - k >= threads)
      add(sums);
    else
      addIf(code.isWithin(member, tail - k), sums, add);
  }
}

/// Returns the thread's parts of all products that the body uses.
SmallVector<Value> StepEmitter::multiply() {
  SmallVector<Value> parts;
  int64_t firstGate = 0;
  for (size_t i = 0; i < numWeights(); ++i) {
    SmallVector<Value> sums;
    addRow(i, firstGate, sums);
    llvm::append_range(parts, sums);
    firstGate += op.getGates()[i];
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Cell
//===----------------------------------------------------------------------===//

/// Computes the body for the thread's sequence, if it has one, and stores the
/// results. `sums` are the sums of each gate that the body uses.
void StepEmitter::emitCell(ArrayRef<Value> sums) {
  const int64_t numSequences = schedule.getBatch();
  Value sequence = numSequences > 1 ? code.add(first, member) : first;
  Value isStored = isUnit;
  if (schedule.getThreads() > numSequences)
    isStored = code.both(isStored, code.isWithin(member, numSequences));
  if (!batch.isMultipleOf(numSequences))
    isStored = code.both(isStored, code.isWithin(sequence, batch));
  Block &block = body().front();
  auto arguments = block.getArguments();
  IRMapping values;
  int64_t numProducts = 0;
  for (size_t i = 0; i < numWeights(); ++i)
    numProducts += op.getGates()[i];
  for (BlockArgument argument : arguments.take_front(size_t(numProducts))) {
    if (argument.use_empty())
      continue;
    Value sum = sums.front();
    for (int64_t j = 1; j < numSequences; ++j)
      sum = code.select(code.equals(member, j), sums[size_t(j)], sum);
    values.map(argument, sum);
    sums = sums.drop_front(size_t(numSequences));
  }
  OpBuilder::InsertionGuard guard(b);
  if (isStored) {
    auto branch = scf::IfOp::create(b, loc, isStored, /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenYield());
  }
  unsigned next = unsigned(numProducts);
  auto map = [&](FieldFn field, ArrayRef<Value> indices) {
    BlockArgument argument = block.getArgument(next++);
    if (!argument.use_empty())
      values.map(argument, load(field, indices));
  };
  for (int64_t gate = 0; gate < op.numInputs(); ++gate)
    map([](const StepBuffers &buffers) { return buffers.src; },
        {sequence, code.add(unit, gate * facts.hidden)});
  auto stateOf = [](const StepBuffers &buffers, size_t i) {
    return i == 0 ? buffers.before : buffers.states[i - 1];
  };
  for (size_t i = 0; i < size_t(op.getNumStates()); ++i)
    map([=](const StepBuffers &buffers) { return stateOf(buffers, i); },
        {sequence, unit});
  for (size_t i = 0; i < size_t(op.numColumnOperands()); ++i)
    map([=](const StepBuffers &buffers) { return buffers.columns[i]; }, {unit});
  if (op.getMasks())
    map([](const StepBuffers &buffers) { return buffers.mask; }, {sequence});
  for (Operation &inside : block.without_terminator())
    b.clone(inside, values);
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(values.lookupOrDefault(value));
  auto after = [](const StepBuffers &buffers) { return buffers.after; };
  if (isReset)
    return store(results.front(), after, {sequence, unit});
  if (op.getStoresAll())
    store(results.front(),
          [](const StepBuffers &buffers) { return buffers.all; },
          {sequence, unit});
  store(results[1], after, {sequence, unit});
  for (size_t i = 1; i < size_t(op.getNumStates()); ++i)
    store(results[i + 1],
          [=](const StepBuffers &buffers) { return stateOf(buffers, i); },
          {sequence, unit});
}

/// Finds the thread's direction, unit and sequences.
void StepEmitter::place() {
  const Team team{schedule.getThreads(), schedule.getBlockThreads()};
  Value thread = code.thread();
  member = team.memberOf(code, thread);
  const Number parts = code.parts(batch, schedule.getBatch());
  const int64_t unitBlocks = facts.unitBlocks(schedule);
  Value block = code.block();
  first = code.multiply(code.remainder(block, parts), schedule.getBatch());
  Value rest = code.divide(block, parts);
  direction = code.divide(rest, unitBlocks);
  unit = code.add(
      code.multiply(code.remainder(rest, unitBlocks), schedule.getUnits()),
      team.teamOf(code, thread));
  if (facts.hidden % schedule.getUnits() != 0)
    isUnit = code.isWithin(unit, facts.hidden);
}

void StepEmitter::emit(ModuleOp kernels, ArrayRef<StepBuffers> buffers) {
  directions = buffers;
  StridedLayout states = StridedLayout::of(directions.front().before);
  states.resolve(code, directions.front().before);
  batch = states.sizes.front();
  place();
  const Team team{schedule.getThreads(), schedule.getBlockThreads()};
  emitCell(combineTeam(code, team, {kernels, code.thread()}, multiply(),
                       [&](size_t, Value x, Value y) -> Value {
                         return arith::AddFOp::create(b, loc, x, y);
                       }));
}
