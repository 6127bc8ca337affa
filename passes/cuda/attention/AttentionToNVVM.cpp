//===- AttentionToNVVM.cpp - cuda-attention-to-nvvm -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/attention/HeadLoader.h"
#include "passes/cuda/attention/HeadMultiplier.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/products/StoreRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace ingot {
#define GEN_PASS_DEF_ATTENTIONTONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// The values that a thread carries from step to step. Each of its queries has
/// the maximum of the scores so far, a part of the sum of exponentials, and
/// sums of the result.
struct Carried {
  SmallVector<Value> maxima, totals, sums;
};

/// Writes the kernel of one attention. While the keys and values of a step are
/// multiplied, those of later steps are copied.
class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &b, const Attention &attention)
      : b(b), loc(attention.op->getLoc()), code(b, loc), attention(attention),
        schedule(attention.schedule()) {}

  void emit();

private:
  Value number(float value) {
    return LLVM::ConstantOp::create(b, loc, b.getF32Type(),
                                    b.getF32FloatAttr(value));
  }
  Value exponential(Value x) { return math::ExpOp::create(b, loc, x); }
  /// Reduces a value over the lanes that have parts of one query.
  template <typename Op>
  Value reduceLanes(Value value);
  void loadStep(Value step, Value stage);
  Value tileAt(Value base, Value stage, const HeadLoader &loader);
  Value loadMask(Value row, Value key);
  SmallVector<Value> scaledScores(Value step, Value stage);
  void addStep(Value step, Value stage, Carried &carried);
  void addAll(Carried &carried);
  void store(Carried &carried);

  OpBuilder &b;
  Location loc;
  Code code;
  const Attention &attention;
  AttentionScheduleAttr schedule;
  Value batch, head, firstQuery;
  Value queriesTile, keysTiles, valuesTiles, mask;
  std::optional<HeadLoader> src, keys, values;
  std::unique_ptr<HeadMultiplier> multiplier;
};

struct AttentionToNVVMPass
    : ingot::impl::AttentionToNVVMBase<AttentionToNVVMPass> {
  void runOnOperation() override;
};

} // namespace

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

Value AttentionEmitter::tileAt(Value base, Value stage,
                               const HeadLoader &loader) {
  return code.shift(base, b.getI8Type(),
                    code.multiply(stage, loader.tileBytes()));
}

void AttentionEmitter::loadStep(Value step, Value stage) {
  Value firstKey = code.multiply(step, schedule.getKeys());
  keys->load(firstKey, tileAt(keysTiles, stage, *keys));
  values->load(firstKey, tileAt(valuesTiles, stage, *values));
}

template <typename Op>
Value AttentionEmitter::reduceLanes(Value value) {
  for (int64_t lanes = 1; lanes < multiplier->lanesOfRow; lanes *= 2) {
    Value other = code.exchange(value, lanes);
    value = Op::create(b, loc, value, other);
  }
  return value;
}

/// Loads the mask of a query and a key. The element of one that does not exist
/// is any element.
Value AttentionEmitter::loadMask(Value row, Value key) {
  const StridedLayout &layout = *attention.mask;
  Value offset = code.add(code.add(code.multiply(batch, layout.strides[0]),
                                   code.multiply(head, layout.strides[1])),
                          code.multiply(key, layout.strides[2]));
  Value isInside;
  if (!attention.numKeys().isMultipleOf(schedule.getKeys()))
    isInside = code.isWithin(key, attention.numKeys());
  if (!layout.strides[3].is(0)) {
    Value query = code.add(firstQuery, row);
    offset = code.add(offset, code.multiply(query, layout.strides[3]));
    if (!attention.queries().isMultipleOf(schedule.getRows()))
      isInside = code.both(isInside, code.isWithin(query, attention.queries()));
  }
  if (isInside)
    offset = code.select(isInside, offset, code.number(0));
  Type f32 = b.getF32Type();
  return code.load(code.shift(mask, f32, offset), f32, sizeof(float));
}

/// Returns the thread's scores of a step, with scale and mask.
SmallVector<Value> AttentionEmitter::scaledScores(Value step, Value stage) {
  SmallVector<Value> scores =
      multiplier->scores(queriesTile, tileAt(keysTiles, stage, *keys));
  const int64_t numColumns = multiplier->numColumns;
  Value scale = number(AttentionOp(attention.op).getScale().convertToFloat());
  Value firstKey = code.multiply(step, schedule.getKeys());
  for (int64_t j = 0; j < numColumns; ++j) {
    Value key = code.add(firstKey, multiplier->columnAt(j));
    Value isKey, added;
    if (!attention.numKeys().isMultipleOf(schedule.getKeys()))
      isKey = code.isWithin(key, attention.numKeys());
    for (int64_t i = 0; i < multiplier->numRows; ++i) {
      Value &score = scores[size_t(i * numColumns + j)];
      // All queries may have the same mask.
      if (mask && (!added || !attention.mask->strides[3].is(0)))
        added = loadMask(multiplier->rowAt(i), key);
      score = added ? Value(LLVM::FMAOp::create(b, loc, score, scale, added))
                    : Value(LLVM::FMulOp::create(b, loc, score, scale));
      if (isKey)
        score = code.select(isKey, score, number(-kInfinity));
    }
  }
  return scores;
}

void AttentionEmitter::addStep(Value step, Value stage, Carried &carried) {
  SmallVector<Value> scores = scaledScores(step, stage);
  const size_t numColumns = size_t(multiplier->numColumns),
               numOutputs = size_t(multiplier->numOutputs);
  for (size_t i = 0; i < size_t(multiplier->numRows); ++i) {
    auto row = MutableArrayRef(scores).slice(i * numColumns, numColumns);
    Value maximum = row.front();
    for (Value score : row.drop_front())
      maximum = LLVM::MaxNumOp::create(b, loc, maximum, score);
    maximum = reduceLanes<LLVM::MaxNumOp>(maximum);
    maximum = LLVM::MaxNumOp::create(b, loc, carried.maxima[i], maximum);
    // Without a key so far, the exponentials shall be zeros, not NaN.
    Value isNone = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::oeq,
                                        maximum, number(-kInfinity));
    Value reference = code.select(isNone, number(0), maximum);
    Value factor =
        exponential(LLVM::FSubOp::create(b, loc, carried.maxima[i], reference));
    Value total = LLVM::FMulOp::create(b, loc, carried.totals[i], factor);
    for (Value &score : row) {
      score = exponential(LLVM::FSubOp::create(b, loc, score, reference));
      total = LLVM::FAddOp::create(b, loc, total, score);
    }
    for (Value &sum :
         MutableArrayRef(carried.sums).slice(i * numOutputs, numOutputs))
      sum = LLVM::FMulOp::create(b, loc, sum, factor);
    carried.maxima[i] = maximum;
    carried.totals[i] = total;
  }
  carried.sums = multiplier->accumulate(
      scores, tileAt(valuesTiles, stage, *values), carried.sums);
}

/// Adds the steps of all keys. The queries come with those of the first step.
void AttentionEmitter::addAll(Carried &carried) {
  const int64_t stages = schedule.getStages();
  const Number steps = code.parts(attention.numKeys(), schedule.getKeys());
  src->load(firstQuery, queriesTile);
  // A step has a group of copies, also if it is behind the last one.
  for (int64_t i = 0; i + 1 < stages; ++i) {
    if (steps.isOpen() || i < steps.known())
      loadStep(code.number(i), code.number(i));
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  }
  SmallVector<Value> all;
  for (ArrayRef<Value> part :
       {ArrayRef<Value>(carried.maxima), ArrayRef<Value>(carried.totals),
        ArrayRef<Value>(carried.sums)})
    llvm::append_range(all, part);
  const size_t numRows = carried.maxima.size(), count = all.size();
  auto take = [&](ValueRange values) {
    carried.maxima = llvm::to_vector_of<Value>(values.take_front(numRows));
    carried.totals = llvm::to_vector_of<Value>(values.slice(numRows, numRows));
    carried.sums = llvm::to_vector_of<Value>(
        values.slice(2 * numRows, count - 2 * numRows));
  };
  all.push_back(code.number(0));
  all.push_back(code.number(stages - 1));
  auto loop = scf::ForOp::create(b, loc, code.number(0), code.valueOf(steps),
                                 code.number(1), all);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    ValueRange arguments = loop.getRegionIterArgs();
    Value stage = arguments[count], lastStage = arguments[count + 1];
    NVVM::CpAsyncWaitGroupOp::create(b, loc, uint32_t(stages - 2));
    // All threads see the tiles, and none reads the stage that is filled next.
    NVVM::BarrierOp::create(b, loc);
    Value ahead = code.add(step, stages - 1);
    {
      auto branch = scf::IfOp::create(b, loc, code.isWithin(ahead, steps),
                                      /*withElseRegion=*/false);
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPoint(branch.thenYield());
      loadStep(ahead, lastStage);
    }
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
    take(arguments);
    addStep(step, stage, carried);
    SmallVector<Value> next;
    llvm::append_range(next, carried.maxima);
    llvm::append_range(next, carried.totals);
    llvm::append_range(next, carried.sums);
    for (Value at : {stage, lastStage})
      next.push_back(code.select(code.equals(at, stages - 1), code.number(0),
                                 code.add(at, 1)));
    scf::YieldOp::create(b, loc, next);
  }
  // The first copies may be of steps that do not exist.
  if (steps.isOpen())
    NVVM::CpAsyncWaitGroupOp::create(b, loc, 0);
  take(loop.getResults());
}

/// Divides the sums by the totals, runs the epilogue and stores the results.
void AttentionEmitter::store(Carried &carried) {
  AttentionOp op = attention.op;
  const EpilogueArrays arrays(code, op, attention.operands, attention.dst);
  const int64_t stored = schedule.getStored();
  for (int64_t i = 0; i < multiplier->numRows; ++i) {
    Value total = reduceLanes<LLVM::FAddOp>(carried.totals[size_t(i)]);
    Value factor = LLVM::FDivOp::create(b, loc, number(1), total);
    // A total of NaN is not above 0 either.
    Value hasKeys;
    if (op.getSafe())
      hasKeys = LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::ogt, total,
                                     number(0));
    // Without keys, results are 0.
    if (attention.numKeys().isOpen()) {
      Value isAny = code.isWithin(code.number(0), attention.numKeys());
      hasKeys = code.both(hasKeys, isAny);
    }
    Value query = code.add(firstQuery, multiplier->rowAt(i));
    OpBuilder::InsertionGuard guard(b);
    if (!attention.queries().isMultipleOf(schedule.getRows())) {
      auto branch =
          scf::IfOp::create(b, loc, code.isWithin(query, attention.queries()),
                            /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenYield());
    }
    for (int64_t j = 0; j < multiplier->numOutputs; j += stored) {
      SmallVector<Value> results;
      for (int64_t k = j; k < j + stored; ++k) {
        Value sum = carried.sums[size_t(i * multiplier->numOutputs + k)];
        Value result = LLVM::FMulOp::create(b, loc, sum, factor);
        if (hasKeys)
          result = code.select(hasKeys, result, number(0));
        results.push_back(result);
      }
      Value indices[] = {batch, query, head, multiplier->outputAt(j)};
      storeThroughEpilogue(code, arrays, indices, results);
    }
  }
}

void AttentionEmitter::emit() {
  Value thread = code.thread(), block = code.block();
  // Neighboring blocks have the same keys, which they then find in the cache.
  const Number down = code.parts(attention.queries(), schedule.getRows());
  Value rest = code.divide(block, down);
  firstQuery = code.multiply(code.remainder(block, down), schedule.getRows());
  head = code.remainder(rest, attention.heads());
  batch = code.divide(rest, attention.heads());
  AttentionOp op = attention.op;
  const int64_t rows = schedule.getRows(), numKeys = schedule.getKeys();
  const HeadLoader::Place place{thread, batch, head};
  auto makeLoader = [&](Value memref, const StridedLayout &layout,
                        int64_t pieceBytes, int64_t numRows) {
    return HeadLoader(code, attention, {memref, layout, pieceBytes, numRows},
                      place);
  };
  src.emplace(
      makeLoader(op.getSrc(), attention.src, schedule.getSrcBytes(), rows));
  keys.emplace(makeLoader(op.getKeys(), attention.keys, schedule.getKeysBytes(),
                          numKeys));
  values.emplace(makeLoader(op.getValues(), attention.values,
                            schedule.getValuesBytes(), numKeys));
  if (op.getMask())
    mask = code.addressOf(op.getMask());
  auto behind = [&](Value base, int64_t bytes) {
    return code.shift(base, b.getI8Type(), code.number(bytes));
  };
  queriesTile = code.sharedMemory(attention.op->getParentOfType<ModuleOp>());
  keysTiles = behind(queriesTile, src->tileBytes());
  valuesTiles = behind(keysTiles, schedule.getStages() * keys->tileBytes());
  multiplier = HeadMultiplier::create(
      code, attention, thread,
      behind(valuesTiles, schedule.getStages() * values->tileBytes()));
  Carried carried;
  const size_t numRows = size_t(multiplier->numRows);
  carried.maxima.assign(numRows, number(-kInfinity));
  carried.totals.assign(numRows, number(0));
  carried.sums.assign(numRows * size_t(multiplier->numOutputs), number(0));
  addAll(carried);
  store(carried);
}

void AttentionToNVVMPass::runOnOperation() {
  emitKernels(getOperation(), llvm::IsaPred<AttentionOp>,
              [](OpBuilder &b, kernel::EpilogueOpInterface op) {
                Attention facts(cast<AttentionOp>(*op));
                Code code(b, op.getLoc());
                facts.resolve(code);
                AttentionEmitter(b, facts).emit();
              });
}
