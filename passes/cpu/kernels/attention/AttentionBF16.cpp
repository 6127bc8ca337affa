//===- AttentionBF16.cpp - attention with products of bf16 ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention with products of bf16. A task rounds scaled queries, keys,
// exponentials and values to bf16 on its stack, in the form that the
// instructions read. Sums and the softmax stay f32.
//
// The factors of `keys · queries` are rows of keys, and queries packed as pairs
// of elements. The factors of `exponentials · values` are rows of exponentials,
// and values packed as pairs of keys. The exponentials of a key are computed as
// a row with one lane a query. Two keys are packed in a 32-bit word, and the
// words are transposed.
//
// Zeros behind a head's elements and a block's keys round depths up to a
// multiple of an AMX tile. All AMX tiles of a kernel thus have one shape, as
// LLVM requires (AmxTiles.h).
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/kernels/attention/AttentionEmitter.h"
#include "passes/support/FloatBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The number of elements of a row that are multiplied together: the depth of
/// an AMX tile.
static constexpr int64_t kDepth = 2 * cpu::kAmxWords;

/// Rounds a row of f32 to bf16.
static Value narrow(IndexBuilder &b, Value row) {
  auto type = cast<VectorType>(row.getType()).clone(b.b.getBF16Type());
  return arith::TruncFOp::create(b.b, b.loc, type, row);
}

/// Rounds two rows of f32 to pairs of bf16, a pair in each lane.
static Value pairUp(IndexBuilder &b, Value even, Value odd) {
  return vector::InterleaveOp::create(b.b, b.loc, narrow(b, even),
                                      narrow(b, odd));
}

static Value zeros(IndexBuilder &b, int64_t lanes, Type element) {
  auto type = VectorType::get({lanes}, element);
  return arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
}

/// Returns the number of steps of `kDepth` for `count` keys.
static Index stepsOf(IndexBuilder &b, Index count) {
  return b.divideCeil(count, kDepth);
}

/// Returns a head's elements, including the zeros behind them.
static int64_t depthOf(int64_t size) { return llvm::alignTo(size, kDepth); }

NarrowAttention::NarrowAttention(AttentionEmitter &all)
    : all(all), b(all.b), plan(all.plan), lanes(all.lanes), size(all.size) {
  Type half = b.b.getBF16Type();
  int64_t keysOfTiles = llvm::alignTo(plan.keysAtOnce, plan.scores.rows);
  queryPairs = createScratch(b, depthOf(size) * plan.queriesPerTask, half);
  keyRows = createScratch(b, depthOf(size) * keysOfTiles, half);
  valuePairs = createScratch(b, all.values.shape[3] * plan.keysAtOnce, half);
  powerRows = createScratch(b, plan.keysAtOnce * plan.queriesPerTask, half);
  tileSums = createScratch(b, plan.tile.rows * plan.tile.vectors * lanes,
                           b.b.getF32Type());
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Packs the elements `rows` of the queries, beginning with element `element`.
/// A lane holds a query.
void NarrowAttention::packQueries(const QueryBlock &block, ArrayRef<Value> rows,
                                  Index element, int64_t vector) {
  for (int64_t i = 0; i < int64_t(rows.size()); i += 2) {
    Index at =
        b.add(b.mul(b.add(element, i), all.width(block)), 2 * vector * lanes);
    all.storeVector(pairUp(b, rows[i], rows[i + 1]), queryPairs, at);
  }
}

void NarrowAttention::finishQueries(const QueryBlock &block) {
  Value zero = zeros(b, 2 * lanes, b.b.getBF16Type());
  forEach(b, size * all.width(block), depthOf(size) * all.width(block),
          2 * lanes,
          [&](Value at) { all.storeVector(zero, queryPairs, Index(at)); });
}

void NarrowAttention::multiply(const TileWeights &pairs, const NarrowRows &rows,
                               Index steps, Value to, Index at) {
  const Tile &tile = pairs.tile;
  auto step = [&](Value number, const Accumulators &before) {
    Index first = b.mul(Index(number), kDepth);
    SrcRows left(b, rows.data, b.add(rows.at, first), rows.pitch,
                 usesTiles(tile.product) ? 1 : tile.rows);
    TileWeights right = pairs.from(b, first);
    if (usesTiles(tile.product))
      return multiplyAddAmx(b, right, left, kDepth, before);
    return multiplyAdd(b, right, left, kDepth, before);
  };
  Accumulators sums = forEach(b, 0, steps, zeroAccumulators(b, tile), step);
  if (usesTiles(tile.product))
    storeAmxTiles(b, tile, sums, to, at, tile.vectors * lanes);
  else
    spill(b, tile, sums, to, at);
}

/// Leaves the rows behind the block's keys uninitialized, because nothing reads
/// their scores.
void NarrowAttention::sumScores(const QueryBlock &block, Index key,
                                Index count) {
  int64_t depth = depthOf(size);
  forEach(b, 0, count, 1, [&](Value place) {
    Index from =
        all.keys.at(b, {block.sample, b.add(key, Index(place)), block.head, 0});
    Index to = b.mul(Index(place), depth);
    for (int64_t e = 0; e < depth; e += lanes) {
      Value row = zeros(b, lanes, b.b.getBF16Type());
      if (e < size)
        row = narrow(b, all.loadVector(all.keys.data, b.add(from, e)));
      all.storeVector(row, keyRows, b.add(to, e));
    }
  });
  Tile tile = fullTile(plan.target, plan.scores);
  forEach(b, 0, b.divideCeil(count, tile.rows), 1, [&](Value number) {
    Index place = b.mul(Index(number), tile.rows);
    multiply({tile, queryPairs, 0, all.width(block)},
             {keyRows, b.mul(place, depth), depth}, depth / kDepth, all.scores,
             b.mul(place, all.width(block)));
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns e^(x - highest) for scores x of at most `highest`. The relative
/// error is at most 2^-13, less than that of rounding to bf16. The value is
/// computed as 2^n * 2^f, with an integer n and |f| <= 1/2. It is 0 if x is
/// -inf or if the exact value would be denormal.
static Value halfPower(const elementary::FloatBuilder &f, Value x,
                       Value highest) {
  constexpr float log2e = 1.44269504f;
  Value exponent = f.fma(x, f.number(log2e), f.mul(highest, f.number(-log2e)));
  // A NaN stays a NaN, because its comparison is false.
  Value least = f.number(-127);
  exponent =
      f.select(arith::CmpFPredicate::OLT, exponent, least, least, exponent);
  // Adds a number such that the lowest bits of the sum are the nearest integer
  // plus the exponent's bias. A shift makes 2^n from these bits, or 0.
  Value magic = f.number(12582912.0f + 127); // 1.5 * 2^23
  Value biased = f.add(exponent, magic);
  Value fraction = f.sub(exponent, f.sub(biased, magic));
  Value power = f.horner(fraction, {0.05500892f, 0.24221098f, 0.69328293f, 1});
  Value scale =
      arith::ShLIOp::create(f.b, f.loc, f.bitsOf(biased), f.integer(23));
  return f.mul(power, f.ofBits(scale));
}

/// Computes exponentials of the scores, packs two keys in a word, and
/// transposes the words.
void NarrowAttention::packPowers(const QueryBlock &block, Index key,
                                 Index count) {
  Accumulators highest = all.raiseMaxima(block, key, count);
  Index steps = stepsOf(b, count);
  Value lowest = splat(
      b, lanes, floatConstant(b, -std::numeric_limits<double>::infinity()));
  forEach(b, count, b.mul(steps, kDepth), 1, [&](Value place) {
    for (int64_t v = 0; v < block.vectors; ++v)
      all.storeVector(lowest, all.scores, all.placeOf(block, Index(place), v));
  });
  auto words = VectorType::get({lanes}, b.b.getI32Type());
  auto halves = VectorType::get({2 * lanes}, b.b.getBF16Type());
  Accumulators none(block.vectors, zeros(b, lanes, b.b.getF32Type()));
  // Packs two keys for each lane in a step.
  static_assert(kDepth == 2 * cpu::kAmxWords);
  assert(lanes == cpu::kAmxWords && "bf16 has instructions of 512 bits");
  auto step = [&](Value number, const Accumulators &before) {
    Accumulators added = before;
    Index place = b.mul(Index(number), kDepth);
    for (int64_t v = 0; v < block.vectors; ++v) {
      elementary::FloatBuilder f{b.b, b.loc, lowest.getType(),
                                 plan.target.hasFMA};
      SmallVector<Value> rows;
      for (int64_t i = 0; i < lanes; ++i) {
        auto power = [&](int64_t odd) {
          Value score = all.loadScores(block, b.add(place, 2 * i + odd), v);
          return halfPower(f, score, highest[v]);
        };
        Value even = power(0), odd = power(1);
        added[v] = f.add(added[v], f.add(even, odd));
        rows.push_back(
            vector::BitCastOp::create(b.b, b.loc, words, pairUp(b, even, odd)));
      }
      transpose(b, rows);
      for (auto [i, row] : llvm::enumerate(rows)) {
        int64_t query = v * lanes + int64_t(i);
        all.storeVector(vector::BitCastOp::create(b.b, b.loc, halves, row),
                        powerRows, b.add(place, query * plan.keysAtOnce));
      }
    }
    return added;
  };
  all.addPowers(block, forEach(b, 0, steps, none, step));
}

void NarrowAttention::packValues(const QueryBlock &block, Index key,
                                 Index count) {
  int64_t columns = all.values.shape[3];
  Value zero = zeros(b, lanes, b.b.getF32Type());
  Index last = b.add(count, -1);
  forEach(b, 0, b.mul(stepsOf(b, count), kDepth), 2, [&](Value place) {
    auto load = [&](int64_t odd, int64_t column) -> Value {
      Index row = b.add(Index(place), odd);
      Index at = all.values.at(
          b, {block.sample, b.add(key, b.min(row, last)), block.head, column});
      return arith::SelectOp::create(
          b.b, b.loc, b.compare(arith::CmpIPredicate::ult, row, count),
          all.loadVector(all.values.data, at), zero);
    };
    for (int64_t column = 0; column < columns; column += lanes) {
      Value even = load(0, column), odd = load(1, column);
      all.storeVector(pairUp(b, even, odd), valuePairs,
                      b.add(b.mul(Index(place), columns), 2 * column));
    }
  });
}

void NarrowAttention::addValues(const QueryBlock &block, Index key,
                                Index count) {
  packValues(block, key, count);
  int64_t columns = all.values.shape[3];
  auto emitTile = [&](const Tile &tile, Index column, Index first) {
    multiply({tile, valuePairs, b.mul(column, 2), columns},
             {powerRows, b.mul(first, plan.keysAtOnce), plan.keysAtOnce},
             stepsOf(b, count), tileSums, 0);
    forEach(b, 0, tile.rows, 1, [&](Value row) {
      Index query = b.add(first, Index(row));
      Value factor =
          splat(b, lanes,
                memref::LoadOp::create(b.b, b.loc, all.factors, b.get(query)));
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Index at = b.add(b.add(b.mul(query, columns), column), v * lanes);
        Value added = all.loadVector(
            tileSums,
            b.add(b.mul(Index(row), tile.vectors * lanes), v * lanes));
        all.storeVector(multiplyAddVectors(b, plan.target.hasFMA,
                                           all.loadVector(all.weighed, at),
                                           factor, added),
                        all.weighed, at);
      }
    });
  };
  all.forEachValueTile(block, emitTile);
}
