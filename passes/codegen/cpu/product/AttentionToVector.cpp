//===- AttentionToVector.cpp - cpu-attention-to-vector --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for sample, head, block of queries, one a lane of two vectors
//   queries, scaled and transposed, on the stack
//   for tile of keys: scores = keys · queries (+ mask), on the stack
//   maxima, powers of e over the scores, sums: lane by lane
//   for column tile of the values, tile of queries
//     result = powers · values, over the sums; epilogue, store
//
// What is on the stack is a vector of queries for each element of a head, and
// one of scores for each key: 33 KiB for heads of 64 elements and 200 keys.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/cpu/rows/Rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_ATTENTIONTOVECTOR
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

/// Queries of one head, from `first` on: `count` of them in `vectors`.
struct Block {
  Index sample, head, first;
  int64_t count, vectors;
};

struct Emitter {
  Emitter(OpBuilder &builder, cpu::AttentionOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), lanes(plan.target.lanes),
        src(b, op.getSrc()), keys(b, op.getKeys()), values(b, op.getValues()),
        mask(flatten(b, op.getMask() ? ValueRange(op.getMask())
                                     : ValueRange())),
        output(b, op), numKeys(keys.shape[1]), size(src.shape[3]) {
    Type f32 = b.b.getF32Type();
    queries = createScratch(b, op, size * plan.queriesPerTask, f32);
    scores = createScratch(b, op, numKeys * plan.queriesPerTask, f32);
    factors = createScratch(b, op, plan.queriesPerTask, f32);
  }

  void emit(Value task);
  void emitBlock(const Block &block);
  void packQueries(const Block &block);
  void sumScores(const Block &block);
  Value addMask(const Block &block, Value score, Index key, int64_t vector);
  void exponentiate(const Block &block);
  void multiplyValues(const Block &block);

  Tile tileOf(const Block &block) const {
    return fullTile(plan.target, {1, block.vectors});
  }
  int64_t width(const Block &block) const { return block.vectors * lanes; }

  IndexBuilder b;
  cpu::AttentionOp op;
  AttentionPlan plan;
  int64_t lanes;
  Flat src, keys, values;
  /// One or none.
  SmallVector<Flat> mask;
  Output output;
  int64_t numKeys, size;
  /// On the stack: `size` and `numKeys` rows of a block's queries, and a number
  /// for each query.
  Value queries, scores, factors;
};

struct AttentionToVectorPass
    : ingot::impl::AttentionToVectorBase<AttentionToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::AttentionOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  int64_t perTask = plan.queriesPerTask, full = plan.queries / perTask;
  int64_t rest = plan.queries % perTask, heads = src.shape[2];
  Index number = b.div(Index(task), plan.blocks());
  Index block = b.rem(Index(task), plan.blocks());
  Index sample = b.div(number, heads), head = b.rem(number, heads);
  auto emitFull = [&] {
    emitBlock({sample, head, b.mul(block, perTask), perTask,
               plan.scores.vectors});
  };
  auto emitRest = [&] {
    emitBlock({sample, head, full * perTask, rest,
               int64_t(llvm::divideCeil(rest, lanes))});
  };
  if (rest == 0)
    return emitFull();
  if (full == 0)
    return emitRest();
  Value isFull = arith::CmpIOp::create(
      b.b, b.loc, arith::CmpIPredicate::ult, b.get(block), b.get(full));
  auto branch = scf::IfOp::create(b.b, b.loc, isFull, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(branch.thenBlock());
  emitFull();
  b.b.setInsertionPointToStart(branch.elseBlock());
  emitRest();
}

void Emitter::emitBlock(const Block &block) {
  packQueries(block);
  sumScores(block);
  exponentiate(block);
  multiplyValues(block);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// Element j of row i becomes element i of row j: rows and lanes change places
/// one bit of their numbers after the other.
static void transpose(IndexBuilder &b, MutableArrayRef<Value> rows) {
  int64_t lanes = rows.size();
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool isSet = lane & bit;
      low.push_back(isSet ? lanes + lane - bit : lane);
      high.push_back(isSet ? lanes + lane : lane + bit);
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & bit)
        continue;
      Value x = rows[i], y = rows[i + bit];
      rows[i] = vector::ShuffleOp::create(b.b, b.loc, x, y, low);
      rows[i + bit] = vector::ShuffleOp::create(b.b, b.loc, x, y, high);
    }
  }
}

void Emitter::packQueries(const Block &block) {
  auto type = VectorType::get({lanes}, b.b.getF32Type());
  Value scale =
      splat(b, lanes, floatConstant(b, op.getScale().convertToFloat()));
  forEach(b, 0, size, lanes, [&](Value element) {
    for (int64_t v = 0; v < block.vectors; ++v) {
      SmallVector<Value> rows;
      for (int64_t r = v * lanes; r < (v + 1) * lanes; ++r) {
        if (r >= block.count) {
          rows.push_back(arith::ConstantOp::create(b.b, b.loc,
                                                   b.b.getZeroAttr(type)));
          continue;
        }
        Index at = src.at(b, {block.sample, b.add(block.first, r), block.head,
                              Index(element)});
        Value row =
            vector::LoadOp::create(b.b, b.loc, type, src.data, b.get(at));
        rows.push_back(arith::MulFOp::create(b.b, b.loc, row, scale));
      }
      transpose(b, rows);
      for (auto [i, row] : llvm::enumerate(rows)) {
        Index at = b.add(b.mul(b.add(Index(element), i), width(block)),
                         v * lanes);
        vector::StoreOp::create(b.b, b.loc, row, queries, b.get(at));
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value Emitter::addMask(const Block &block, Value score, Index key,
                       int64_t vector) {
  const Flat &data = mask.front();
  auto coordinate = [&](int64_t dim, Index at) {
    return data.shape[dim] == 1 ? Index(0) : at;
  };
  Index at =
      data.at(b, {coordinate(0, block.sample), coordinate(1, block.head), key,
                  coordinate(3, b.add(block.first, vector * lanes))});
  Value added;
  if (data.shape[3] == 1) {
    added = splat(b, lanes, memref::LoadOp::create(b.b, b.loc, data.data,
                                                   b.get(at)));
  } else {
    int64_t valid = std::min(lanes, block.count - vector * lanes);
    added = loadPart(b, {1, 1, lanes, valid, false}, data.data, at);
  }
  return arith::AddFOp::create(b.b, b.loc, score, added);
}

void Emitter::sumScores(const Block &block) {
  auto emitTile = [&](int64_t count, Index key) {
    Tile tile = tileOf(block).withRows(count);
    SrcRows rows(b, keys.data, keys.at(b, {block.sample, key, block.head, 0}),
              keys.strides[1], count);
    Accumulators sums =
        multiplyAddWhole(b, tile, rows, queries, 0, width(block), size,
                         zeroAccumulators(b, tile), op);
    if (!mask.empty())
      for (int64_t r = 0; r < count; ++r)
        for (int64_t v = 0; v < block.vectors; ++v) {
          Value &sum = sums[r * block.vectors + v];
          sum = addMask(block, sum, b.add(key, r), v);
        }
    spill(b, tile, sums, scores, b.mul(key, width(block)));
  };
  forEachPart(b, numKeys, plan.scores.rows, emitTile);
}

void Emitter::exponentiate(const Block &block) {
  Tile tile = tileOf(block).withRows(
      std::max<int64_t>(plan.target.sumsInFlight() / block.vectors, 1));
  auto type = VectorType::get({lanes}, b.b.getF32Type());
  auto placeOf = [&](IndexBuilder &b, Index key, int64_t v) {
    return b.get(b.add(b.mul(key, width(block)), v * lanes));
  };
  auto load = [&](IndexBuilder &b, Index key, int64_t v) -> Value {
    return vector::LoadOp::create(b.b, b.loc, type, scores, placeOf(b, key, v));
  };
  Accumulators max = foldColumns(b, tile, numKeys, FoldKind::max, load);
  auto power = [&](IndexBuilder &b, Index key, int64_t v) -> Value {
    Value shifted =
        arith::SubFOp::create(b.b, b.loc, load(b, key, v), max[v]);
    Value power = math::ExpOp::create(b.b, b.loc, shifted);
    vector::StoreOp::create(b.b, b.loc, power, scores, placeOf(b, key, v));
    return power;
  };
  Accumulators sums = foldColumns(b, tile, numKeys, FoldKind::sum, power);
  Value one = splat(b, lanes, floatConstant(b, 1));
  for (Value &sum : sums)
    sum = arith::DivFOp::create(b.b, b.loc, one, sum);
  spill(b, tile, sums, factors, 0);
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

void Emitter::multiplyValues(const Block &block) {
  int64_t columns = plan.tile.vectors * lanes, all = values.shape[3];
  int64_t tiles = llvm::divideCeil(all, columns);
  auto emitColumns = [&](Value number, const Tile &full) {
    Index column = b.mul(Index(number), columns);
    Index from = values.at(b, {block.sample, 0, block.head, column});
    forEachPart(
        b, block.count, plan.tile.rows, [&](int64_t count, Index first) {
          Tile tile = full.withRows(count);
          // A query is a lane of every row of powers.
          SrcRows rows(b, scores, first, 1, count);
          rows.step = width(block);
          Accumulators sums = multiplyAdd(b, tile, rows, values.data, from,
                                          values.strides[1].constant, numKeys,
                                          zeroAccumulators(b, tile));
          for (int64_t r = 0; r < count; ++r) {
            Value factor =
                splat(b, lanes,
                      memref::LoadOp::create(b.b, b.loc, factors,
                                             b.get(b.add(first, r))));
            for (int64_t v = 0; v < tile.vectors; ++v) {
              Value &sum = sums[r * tile.vectors + v];
              sum = arith::MulFOp::create(b.b, b.loc, sum, factor);
            }
          }
          storeTile(b, tile, output, sums, [&](IndexBuilder &b, Index row) {
            return SmallVector<Index>{block.sample,
                                      b.add(b.add(block.first, first), row),
                                      block.head, column};
          });
        });
  };
  forEachColumnTile(b, 0, tiles, tiles, fullTile(plan.target, plan.tile),
                    lastTile(plan.target, plan.tile, all), emitColumns);
}
