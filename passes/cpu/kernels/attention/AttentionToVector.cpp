//===- AttentionToVector.cpp - cpu-attention-to-vector --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention with all keys of a head at once:
//
//     for sample, head, block of queries, one query a lane of two vectors
//       queries, scaled and transposed, on the stack
//       for tile of keys: scores = keys · queries (+ mask), on the stack
//       maxima, exponentials of the scores, sums: lane by lane
//       for column tile of the values, tile of queries
//         result = exponentials · values / sums; epilogue, store
//
// AttentionBlocks.cpp handles open sizes, more keys than the stack should hold,
// and products of bf16.
//
// The stack holds a row of queries for each element of a head, and a row of
// scores for each key. With heads of 64 elements and 200 keys this takes 33
// KiB.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/attention/AttentionEmitter.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace ingot {
#define GEN_PASS_DEF_ATTENTIONTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

struct AttentionToVectorPass
    : ingot::impl::AttentionToVectorBase<AttentionToVectorPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    AttentionToVectorBase::getDependentDialects(registry);
    registry.insert<amx::AMXDialect, x86vector::X86VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(emitKernels<cpu::AttentionOp, AttentionEmitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

AttentionEmitter::AttentionEmitter(OpBuilder &builder, cpu::AttentionOp op)
    : b{builder, op.getLoc()}, op(op), plan(op), lanes(plan.target.lanes),
      src(b, op.getSrc()), keys(b, op.getKeys()), values(b, op.getValues()),
      mask(flatten(b, op.getMask() ? ValueRange(op.getMask()) : ValueRange())),
      output(b, op), numQueries(dimOf(b, op.getSrc(), 1)),
      numKeys(dimOf(b, op.getKeys(), 1)), size(src.shape[3]) {
  auto scratch = [&](int64_t elements) {
    return createScratch(b, elements, b.b.getF32Type());
  };
  if (!plan.isNarrow && !op.getBytes())
    queries = scratch(size * plan.queriesPerTask);
  scores = scratch(llvm::alignTo(plan.keysAtOnce, plan.scores.rows) *
                   plan.queriesPerTask);
  factors = scratch(plan.queriesPerTask);
  if (op.getBytes())
    bytes.emplace(*this);
  if (!plan.byBlocks)
    return;
  maxima = scratch(plan.queriesPerTask);
  sums = scratch(plan.queriesPerTask);
  if (bytes)
    return;
  weighed = scratch(values.shape[3] * plan.queriesPerTask);
  if (plan.isNarrow)
    narrow.emplace(*this);
}

void AttentionEmitter::emit(Value task) {
  int64_t perTask = plan.queriesPerTask, heads = src.shape[2];
  Index blocks = b.divideCeil(numQueries, perTask);
  Index number = b.div(Index(task), blocks);
  Index block = b.rem(Index(task), blocks);
  Index sample = b.div(number, heads), head = b.rem(number, heads);
  Index first = b.mul(block, perTask);
  if (plan.byBlocks)
    return emitByBlocks({sample, head, first, perTask, plan.scores.vectors,
                         b.add(numQueries, -1)});
  int64_t full = numQueries.constant / perTask,
          rest = numQueries.constant % perTask;
  auto emitFull = [&] {
    emitBlock({sample, head, first, perTask, plan.scores.vectors});
  };
  auto emitRest = [&] {
    emitBlock({sample, head, full * perTask, rest,
               int64_t(llvm::divideCeil(rest, lanes))});
  };
  if (rest == 0)
    return emitFull();
  if (full == 0)
    return emitRest();
  b.branch(b.compare(arith::CmpIPredicate::ult, block, full), emitFull,
           emitRest);
}

void AttentionEmitter::emitBlock(const QueryBlock &block) {
  if (bytes)
    return bytes->emitBlock(block);
  packQueries(block);
  sumScores(block);
  exponentiate(block);
  multiplyValues(block);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

void cpu::transpose(IndexBuilder &b, MutableArrayRef<Value> rows) {
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

void AttentionEmitter::packQueries(const QueryBlock &block) {
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
        Index query = b.add(block.first, r);
        if (block.last)
          query = b.min(query, *block.last);
        Index at = src.at(b, {block.sample, query, block.head, Index(element)});
        Value row =
            vector::LoadOp::create(b.b, b.loc, type, src.data, b.get(at));
        rows.push_back(arith::MulFOp::create(b.b, b.loc, row, scale));
      }
      transpose(b, rows);
      if (narrow) {
        narrow->packQueries(block, rows, Index(element), v);
        continue;
      }
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

Value AttentionEmitter::addMask(const QueryBlock &block, Value score, Index key,
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
  } else if (block.last) {
    Index valid =
        b.sub(b.add(*block.last, 1), b.add(block.first, vector * lanes));
    added = loadPiece(b, lanes, data.data, at,
                      maskOfFirst(b, lanes, b.min(b.max(valid, 0), lanes)));
  } else {
    int64_t valid = std::min(lanes, block.count - vector * lanes);
    added = loadPart(b, {1, 1, lanes, valid, false}, data.data, at);
  }
  return arith::AddFOp::create(b.b, b.loc, score, added);
}

void AttentionEmitter::sumTile(const QueryBlock &block, int64_t count,
                               Index key, Index place) {
  if (bytes)
    return bytes->sumTile(block, count, key, place);
  Tile tile = tileOf(block).withRows(count);
  SrcRows rows(b, keys.data, keys.at(b, {block.sample, key, block.head, 0}),
               keys.strides[1], count);
  Accumulators sums = multiplyAddWhole(b, {tile, queries, 0, width(block)},
                                       rows, size, zeroAccumulators(b, tile));
  if (!mask.empty())
    for (int64_t r = 0; r < count; ++r)
      for (int64_t v = 0; v < block.vectors; ++v) {
        Value &sum = sums[r * block.vectors + v];
        sum = addMask(block, sum, b.add(key, r), v);
      }
  spill(b, tile, sums, scores, b.mul(place, width(block)));
}

void AttentionEmitter::sumScores(const QueryBlock &block) {
  forEachPart(b, plan.keysAtOnce, plan.scores.rows,
              [&](int64_t count, Index key) {
                sumTile(block, count, key, key);
              });
}

Value AttentionEmitter::loadVector(Value from, Index at) {
  auto type = VectorType::get({lanes}, b.b.getF32Type());
  return vector::LoadOp::create(b.b, b.loc, type, from, b.get(at));
}

void AttentionEmitter::storeVector(Value vector, Value to, Index at) {
  vector::StoreOp::create(b.b, b.loc, vector, to, b.get(at));
}

Value AttentionEmitter::loadScores(const QueryBlock &block, Index key,
                                   int64_t v) {
  return loadVector(scores, placeOf(block, key, v));
}

void AttentionEmitter::exponentiate(const QueryBlock &block) {
  Tile tile = tileOf(block).withRows(
      std::max<int64_t>(plan.target.sumsInFlight() / block.vectors, 1));
  auto load = [&](IndexBuilder &, Index key, int64_t v) {
    return loadScores(block, key, v);
  };
  Accumulators max = foldColumns(b, tile, numKeys, FoldKind::max, load);
  auto power = [&](IndexBuilder &b, Index key, int64_t v) -> Value {
    Value shifted =
        arith::SubFOp::create(b.b, b.loc, load(b, key, v), max[v]);
    Value power = math::ExpOp::create(b.b, b.loc, shifted);
    vector::StoreOp::create(b.b, b.loc, power, scores,
                            b.get(placeOf(block, key, v)));
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

Value AttentionEmitter::normalize(Value weighed, Value factor) {
  Value result = arith::MulFOp::create(b.b, b.loc, weighed,
                                       splat(b, lanes, factor));
  if (!op.getSafe())
    return result;
  // Returns 0 if the factor is NaN or infinite, e.g. because all exponentials
  // are 0.
  Value isNumber = arith::CmpFOp::create(
      b.b, b.loc, arith::CmpFPredicate::OLT, factor,
      floatConstant(b, std::numeric_limits<double>::infinity()));
  return arith::SelectOp::create(b.b, b.loc, isNumber, result,
                                 splat(b, lanes, floatConstant(b, 0)));
}

void AttentionEmitter::multiplyValues(const QueryBlock &block) {
  int64_t columns = plan.tile.vectors * lanes, all = values.shape[3];
  int64_t tiles = llvm::divideCeil(all, columns);
  auto emitColumns = [&](Value number, const Tile &full) {
    Index column = b.mul(Index(number), columns);
    Index from = values.at(b, {block.sample, 0, block.head, column});
    forEachPart(
        b, block.count, plan.tile.rows, [&](int64_t count, Index first) {
          Tile tile = full.withRows(count);
          // Reads the lane of a query in every row of exponentials.
          SrcRows rows(b, scores, first, 1, count);
          rows.step = width(block);
          Accumulators sums = multiplyAdd(
              b, {tile, values.data, from, values.strides[1].constant}, rows,
              plan.keysAtOnce, zeroAccumulators(b, tile));
          for (int64_t r = 0; r < count; ++r) {
            Value factor = memref::LoadOp::create(b.b, b.loc, factors,
                                                  b.get(b.add(first, r)));
            for (int64_t v = 0; v < tile.vectors; ++v) {
              Value &sum = sums[r * tile.vectors + v];
              sum = normalize(sum, factor);
            }
          }
          storeTile(b, tile, output, sums, [&](IndexBuilder &b, Index row) {
            return SmallVector<Index>{block.sample,
                                      b.add(b.add(block.first, first), row),
                                      block.head, column};
          });
        });
  };
  forEachColumnTile(b, {0, tiles, tiles}, fullTile(plan.target, plan.tile),
                    lastTile(plan.target, plan.tile, all), emitColumns);
}
