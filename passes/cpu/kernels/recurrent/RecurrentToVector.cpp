//===- RecurrentToVector.cpp - cpu-recurrent-to-vector --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recurrent networks:
//
//     for direction, block of sequences
//       for step
//         for panel of recurrent weights, alternately forwards and backwards
//           for row tile: sums = state · weights, kept for all panels
//         with a reset gate: the gate first, then products with its result
//         for sequence, vector of units: cell; store the output and the states
//
// Each step reads the panels in the opposite order of the previous step. The
// second-level cache then still holds the panels that the previous step read
// last. With a fixed order, it would hold none of the needed panels if all
// weights are larger than the cache.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_RECURRENTTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// The inputs and outputs of a direction.
struct Direction {
  Direction(IndexBuilder &b, cpu::RecurrentOp op, int64_t d)
      : src(b, op.getSrcs()[d]), sums(b, op.room(d)),
        isReverse(op.getReverse()[d]) {
    for (size_t i = 0; i < op.getGates().size(); ++i)
      weights.emplace_back(b, op.weightsOf(d, i));
    for (int64_t i = 0; i < op.numColumnOperands(); ++i)
      operands.emplace_back(b, op.columnOperand(d, i));
    for (size_t i = 0; i < op.getNumStates(); ++i)
      states.emplace_back(b, op.state(d, i));
    if (Value value = op.all(d))
      all.emplace(b, value);
  }

  Flat src, sums;
  SmallVector<Flat> weights, operands, states;
  std::optional<Flat> all;
  bool isReverse;
};

/// A step of the recurrence: its number, and whether the number is odd.
struct Step {
  Index number;
  Value isOdd;
};

/// The left factor of products: columns of `data` from `column` on.
struct Factor {
  const Flat &data;
  int64_t column;
};

/// Sequences [first, end), and their number if it is known.
struct SequenceRange {
  Index first, end;
  std::optional<int64_t> count;
};

struct Emitter {
  Emitter(OpBuilder &builder, cpu::RecurrentOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), lanes(plan.target.lanes),
        lengths(flatten(b, op.getLengths() ? ValueRange(op.getLengths())
                                           : ValueRange())) {}

  void emit(Value task);
  void emitDirection(int64_t number, Index block);
  void emitStep(const Direction &direction, const SequenceRange &rows,
                Index step, Value isOdd);
  void multiply(const Direction &direction, const SequenceRange &rows,
                int64_t number, const Step &step, const Factor &factor);
  NextWeights nextPanel(const Flat &weights, Index panel, Value isOdd,
                        const SequenceRange &rows, Index pass, int64_t parts);
  void forEachRowTile(const SequenceRange &rows,
                      function_ref<void(int64_t count, Index row)> body);
  void
  forEachUnits(const Direction &direction, const SequenceRange &rows,
               Block &body, int64_t numWeights, Index step,
               function_ref<void(IndexBuilder &b, Index row, const Piece &units,
                                 ArrayRef<Value> results)>
                   store);
  Tile tileOf(int64_t count, int64_t panel) const;

  IndexBuilder b;
  cpu::RecurrentOp op;
  RecurrentPlan plan;
  int64_t lanes;
  /// The lengths of the sequences; empty if there are none.
  SmallVector<Flat> lengths;
};

struct RecurrentToVectorPass
    : ingot::impl::RecurrentToVectorBase<RecurrentToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::RecurrentOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  int64_t directions = op.numDirections();
  if (directions == 1)
    return emitDirection(0, Index(task));
  Index blocks = b.divideCeil(dimOf(b, op.state(0, 0), 0),
                              plan.grid.rowsPerTask);
  Value number = b.get(b.div(Index(task), blocks));
  Value block = b.get(b.rem(Index(task), blocks));
  for (int64_t d = 0; d < directions; ++d)
    b.branch(b.compare(arith::CmpIPredicate::eq, number, d),
             [&] { emitDirection(d, Index(block)); });
}

void Emitter::emitDirection(int64_t number, Index block) {
  Direction direction(b, op, number);
  int64_t perTask = plan.grid.rowsPerTask;
  Index batch = dimOf(b, op.state(number, 0), 0);
  SequenceRange rows{0, batch, std::nullopt};
  if (batch.value || batch.constant > perTask) {
    rows.first = b.mul(block, perTask);
    rows.end = b.min(b.add(rows.first, perTask), batch);
    if (!batch.value && batch.constant % perTask == 0)
      rows.count = perTask;
  } else {
    rows.count = batch.constant;
  }
  Index steps = dimOf(b, op.getSrcs()[number], 0);
  forEach(b, 0, steps, 1, [&](Value i) {
    Value isOdd = arith::CmpIOp::create(
        b.b, b.loc, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b.b, b.loc, i, b.get(1)), b.get(1));
    Index step = i;
    if (direction.isReverse)
      step = Index(Value(arith::SubIOp::create(
          b.b, b.loc, b.get(b.add(steps, -1)), i)));
    emitStep(direction, rows, step, isOdd);
  });
}

void Emitter::emitStep(const Direction &direction, const SequenceRange &rows,
                       Index step, Value isOdd) {
  int64_t all = direction.weights.size();
  int64_t early = op.hasReset() ? all - 1 : all;
  for (int64_t i = 0; i < early; ++i)
    multiply(direction, rows, i, {step, isOdd}, {direction.states[0], 0});
  if (early != all) {
    int64_t resetAt = op.sumColumns(all);
    forEachUnits(direction, rows, op.getReset().front(), early, step,
                 [&](IndexBuilder &b, Index row, const Piece &units,
                     ArrayRef<Value> results) {
                   storePiece(b, results[0], direction.sums.data,
                              direction.sums.at(b, {row, b.add(units.at,
                                                               resetAt)}),
                              units.mask);
                 });
    multiply(direction, rows, early, {step, isOdd}, {direction.sums, resetAt});
  }
  forEachUnits(direction, rows, op.getCell().front(), all, step,
               [&](IndexBuilder &b, Index row, const Piece &units,
                   ArrayRef<Value> results) {
                 if (const std::optional<Flat> &shown = direction.all)
                   storePiece(b, results[0], shown->data,
                              shown->at(b, {step, row, units.at}), units.mask);
                 for (auto [state, value] : llvm::zip_equal(
                          direction.states, results.drop_front()))
                   storePiece(b, value, state.data,
                              state.at(b, {row, units.at}), units.mask);
               });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns the tile for `count` rows. A single row reads a whole panel as one
/// stream.
Tile Emitter::tileOf(int64_t count, int64_t panel) const {
  RegisterTile tile = plan.tile;
  if (count == 1 && tile.rows > 1)
    tile.vectors = vectorsOfOneRow(plan.target, panel);
  tile.rows = count;
  return fullTile(plan.target, tile);
}

void Emitter::forEachRowTile(const SequenceRange &rows,
                             function_ref<void(int64_t, Index)> body) {
  if (rows.count)
    return forEachPart(b, *rows.count, plan.tile.rows,
                       [&](int64_t count, Index at) {
                         body(count, b.add(rows.first, at));
                       });
  Index row = rows.first;
  for (int64_t size = plan.tile.rows; size > 0; size /= 2) {
    Index whole = b.div(b.sub(rows.end, row), size);
    Index end = size == 1 ? rows.end : b.add(row, b.mul(whole, size));
    forEach(b, row, end, size, [&](Value at) { body(size, Index(at)); });
    row = end;
  }
}

/// Returns the prefetches of pass `pass` over a panel. They fetch the next
/// panel, unless the second-level cache holds all panels. Each row tile makes
/// `parts` passes.
NextWeights Emitter::nextPanel(const Flat &weights, Index panel, Value isOdd,
                               const SequenceRange &rows, Index pass,
                               int64_t parts) {
  int64_t elements = plan.hidden * weights.shape[2];
  if (!rows.count || elements * weights.shape[0] * 4 <= plan.target.l2)
    return {};
  Value next = arith::SelectOp::create(b.b, b.loc, isOdd,
                                       b.get(b.add(panel, -1)),
                                       b.get(b.add(panel, 1)));
  return nextWeights(b, weights.data, weights.at(b, {Index(next), 0, 0}),
                     elements, pass,
                     parts * llvm::divideCeil(*rows.count, plan.tile.rows));
}

/// Multiplies rows of `factor`, from its column on, with weights `number`.
/// Meanwhile, prefetches the input's contributions to the same columns.
void Emitter::multiply(const Direction &direction, const SequenceRange &rows,
                       int64_t number, const Step &step, const Factor &factor) {
  const Flat &weights = direction.weights[number];
  int64_t panels = weights.shape[0], width = weights.shape[2];
  int64_t firstColumn = op.sumColumns(number), firstInput = 0;
  for (int64_t i = 0; i < number; ++i)
    firstInput += op.getGates()[i] * plan.hidden;
  int64_t lineFloats = plan.target.wordsOfLine();
  forEach(b, 0, panels, 1, [&](Value i) {
    Value backwards = arith::SubIOp::create(b.b, b.loc, b.get(panels - 1), i);
    Index panel =
        Value(arith::SelectOp::create(b.b, b.loc, step.isOdd, backwards, i));
    forEachRowTile(rows, [&](int64_t count, Index row) {
      for (int64_t r = 0; r < count; ++r)
        for (int64_t c = firstInput; c < firstInput + width; c += lineFloats)
          prefetch(b, direction.src.data,
                   direction.src.at(b, {step.number, b.add(row, r),
                                        b.add(b.mul(panel, width), c)}),
                   Into::second);
      Tile tile = tileOf(count, width);
      SrcRows src(b, factor.data.data, factor.data.at(b, {row, factor.column}),
                  factor.data.strides[0], count);
      for (int64_t part = 0; part < width; part += tile.columns()) {
        int64_t parts = width / tile.columns();
        Index tiles = b.div(b.sub(row, rows.first), plan.tile.rows);
        NextWeights next =
            nextPanel(weights, panel, step.isOdd, rows,
                      b.add(b.mul(tiles, parts), part / tile.columns()), parts);
        Accumulators sums = multiplyAdd(
            b, {tile, weights.data, weights.at(b, {panel, 0, part}), width},
            src, plan.hidden, zeroAccumulators(b, tile), next);
        Index column = b.add(b.mul(panel, width), firstColumn + part);
        for (int64_t r = 0; r < count; ++r)
          for (int64_t v = 0; v < tile.vectors; ++v)
            storePiece(b, sums[r * tile.vectors + v], direction.sums.data,
                       direction.sums.at(b, {b.add(row, r),
                                             b.add(column, v * lanes)}),
                       Value());
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// Runs `body` for all units of all rows, with the products of the first
/// `numWeights` weights.
void Emitter::forEachUnits(
    const Direction &direction, const SequenceRange &rows, Block &body,
    int64_t numWeights, Index step,
    function_ref<void(IndexBuilder &b, Index row, const Piece &units,
                      ArrayRef<Value> results)>
        store) {
  int64_t hidden = plan.hidden;
  forEach(b, rows.first, rows.end, 1, [&](Value at) {
    Index row = at;
    Value isThere;
    if (!lengths.empty()) {
      Value length = memref::LoadOp::create(
          b.b, b.loc, lengths[0].data, b.get(lengths[0].at(b, {row, 0})));
      Value number = arith::IndexCastOp::create(b.b, b.loc, length.getType(),
                                                b.get(step));
      isThere = splat(
          b, lanes,
          arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::slt, number,
                                length));
    }
    forEachPiece(
        b, plan.target, hidden, [&](IndexBuilder &b, const Piece &units) {
          SmallVector<Value> arguments;
          auto load = [&](const Flat &data, ArrayRef<Index> place) {
            arguments.push_back(
                loadPiece(b, lanes, data.data, data.at(b, place), units.mask));
          };
          for (int64_t i = 0; i < numWeights; ++i)
            for (int64_t gate = 0; gate < op.getGates()[i]; ++gate)
              load(direction.sums,
                   {row, b.add(units.at, op.sumColumns(i) + gate * hidden)});
          for (int64_t gate = 0; gate < op.numInputs(); ++gate)
            load(direction.src, {step, row, b.add(units.at, gate * hidden)});
          for (const Flat &state : direction.states)
            load(state, {row, units.at});
          for (const Flat &operand : direction.operands)
            load(operand, {units.at});
          if (isThere)
            arguments.push_back(isThere);
          store(b, row, units, evaluate(b, body, arguments, lanes));
        });
  });
}
