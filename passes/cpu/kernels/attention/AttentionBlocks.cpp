//===- AttentionBlocks.cpp - attention by blocks of keys ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention by blocks of keys, with an online softmax:
//
//     for sample, head, block of queries
//       for block of keys
//         scores = keys · queries (+ mask)
//         raise maxima to those of the scores
//         p = exp(scores - maxima), shrink = exp(old maxima - maxima)
//         sums = sums * shrink + p; weighed = weighed * shrink + p · values
//       result = weighed / sums; epilogue, store
//
// The stack of a task depends neither on the number of keys nor on the number
// of queries. Sources: Milakov and Gimelshein, Online normalizer calculation
// for softmax, 2018; Dao et al., FlashAttention, 2022. The last block of
// queries repeats the last query to fill its lanes; the repeated results are
// not stored.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/attention/AttentionEmitter.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

void AttentionEmitter::emitByBlocks(const QueryBlock &block) {
  if (bytes)
    return bytes->emitByBlocks(block);
  packQueries(block);
  if (narrow)
    narrow->finishQueries(block);
  startSums(block);
  forEach(b, 0, numKeys, plan.keysAtOnce, [&](Value key) {
    Index count =
        b.min(b.sub(numKeys, Index(key)), plan.keysAtOnce);
    if (narrow) {
      narrow->sumScores(block, Index(key), count);
      narrow->packPowers(block, Index(key), count);
      narrow->addValues(block, Index(key), count);
      return;
    }
    sumScores(block, Index(key), count);
    exponentiate(block, Index(key), count);
    addValues(block, Index(key), count);
  });
  storeResults(block);
}

void AttentionEmitter::startSums(const QueryBlock &block) {
  Value lowest = splat(
      b, lanes, floatConstant(b, -std::numeric_limits<double>::infinity()));
  Value zero = splat(b, lanes, floatConstant(b, 0));
  auto fill = [&](Value scratch, Value with, int64_t elements) {
    forEach(b, 0, elements, lanes, [&](Value at) {
      vector::StoreOp::create(b.b, b.loc, with, scratch, at);
    });
  };
  fill(maxima, lowest, width(block));
  fill(sums, zero, width(block));
  if (!bytes)
    fill(weighed, zero, width(block) * values.shape[3]);
}

/// Computes the scores in tiles of keys. The last tile ends with the block, and
/// computes some scores again, with equal results. If the block has fewer keys
/// than a tile, its scores are computed key by key.
void AttentionEmitter::sumScores(const QueryBlock &block, Index key,
                                 Index count) {
  int64_t rows = plan.scores.rows;
  auto inTiles = [&] {
    forEach(b, 0, b.divideCeil(count, rows), 1, [&](Value number) {
      Index place = b.min(b.mul(Index(number), rows), b.add(count, -rows));
      sumTile(block, rows, b.add(key, place), place);
    });
  };
  auto oneByOne = [&] {
    forEach(b, 0, count, 1, [&](Value place) {
      sumTile(block, 1, b.add(key, Index(place)), Index(place));
    });
  };
  b.branch(b.compare(arith::CmpIPredicate::sge, count, rows), inTiles,
           oneByOne);
}

Accumulators AttentionEmitter::raiseMaxima(const QueryBlock &block, Index key,
                                           Index count) {
  Tile tile = tileOf(block).withRows(
      std::max<int64_t>(plan.target.sumsInFlight() / block.vectors, 1));
  Accumulators highest = foldColumns(
      b, tile, count, FoldKind::max,
      [&](IndexBuilder &b, Index place, int64_t v) {
        Value score = loadScores(block, place, v);
        if (!plan.isNarrow || mask.empty())
          return score;
        score = addMask(block, score, b.add(key, place), v);
        storeVector(score, scores, placeOf(block, place, v));
        return score;
      });
  Value lowest = splat(
      b, lanes, floatConstant(b, -std::numeric_limits<double>::infinity()));
  Value zero = splat(b, lanes, floatConstant(b, 0));
  for (int64_t v = 0; v < block.vectors; ++v) {
    Value before = loadVector(maxima, v * lanes);
    Value now = arith::MaxNumFOp::create(b.b, b.loc, before, highest[v]);
    storeVector(now, maxima, v * lanes);
    // Subtracts 0 if every score so far is -inf. The difference of two -inf
    // would be NaN; with 0 the exponential becomes 0.
    Value isLowest = arith::CmpFOp::create(
        b.b, b.loc, arith::CmpFPredicate::OEQ, now, lowest);
    highest[v] = arith::SelectOp::create(b.b, b.loc, isLowest, zero, now);
    Value grown = arith::SubFOp::create(b.b, b.loc, before, highest[v]);
    storeVector(math::ExpOp::create(b.b, b.loc, grown), factors, v * lanes);
  }
  return highest;
}

void AttentionEmitter::addPowers(const QueryBlock &block,
                                 const Accumulators &added) {
  for (int64_t v = 0; v < block.vectors; ++v) {
    Value kept =
        arith::MulFOp::create(b.b, b.loc, loadVector(sums, v * lanes),
                              loadVector(factors, v * lanes));
    storeVector(arith::AddFOp::create(b.b, b.loc, kept, added[v]), sums,
                v * lanes);
  }
}

void AttentionEmitter::exponentiate(const QueryBlock &block, Index key,
                                    Index count) {
  Tile tile = tileOf(block).withRows(
      std::max<int64_t>(plan.target.sumsInFlight() / block.vectors, 1));
  Accumulators highest = raiseMaxima(block, key, count);
  addPowers(block,
            foldColumns(b, tile, count, FoldKind::sum,
                        [&](IndexBuilder &b, Index place, int64_t v) -> Value {
                          Value shifted = arith::SubFOp::create(
                              b.b, b.loc, loadScores(block, place, v),
                              highest[v]);
                          Value power =
                              math::ExpOp::create(b.b, b.loc, shifted);
                          storeVector(power, scores, placeOf(block, place, v));
                          return power;
                        }));
}

void AttentionEmitter::forEachValueTile(
    const QueryBlock &block,
    function_ref<void(const Tile &tile, Index column, Index first)> body) {
  int64_t columns = plan.tile.vectors * lanes, all = values.shape[3];
  int64_t tiles = llvm::divideCeil(all, columns);
  forEachColumnTile(b, {0, tiles, tiles}, fullTile(plan.target, plan.tile),
                    lastTile(plan.target, plan.tile, all),
                    [&](Value number, const Tile &full) {
                      forEachPart(b, block.count, plan.tile.rows,
                                  [&](int64_t rows, Index first) {
                                    body(full.withRows(rows),
                                         b.mul(Index(number), columns), first);
                                  });
                    });
}

void AttentionEmitter::addValues(const QueryBlock &block, Index key,
                                 Index count) {
  auto emitTile = [&](const Tile &tile, Index column, Index first) {
    auto placeOf = [&](int64_t r, int64_t v) {
      return b.add(b.add(b.mul(b.add(first, r), values.shape[3]), column),
                   v * lanes);
    };
    Accumulators start;
    for (int64_t r = 0; r < tile.rows; ++r) {
      Value factor = splat(
          b, lanes,
          memref::LoadOp::create(b.b, b.loc, factors, b.get(b.add(first, r))));
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value before = loadVector(weighed, placeOf(r, v));
        start.push_back(arith::MulFOp::create(b.b, b.loc, before, factor));
      }
    }
    Index from = values.at(b, {block.sample, key, block.head, column});
    Accumulators after =
        forEach(b, 0, count, start, [&](Value k, const Accumulators &sums) {
          // Reads the lane of a query in the key's row of exponentials.
          SrcRows rows(b, scores, b.add(first, b.mul(Index(k), width(block))),
                       1, tile.rows);
          return multiplyAdd(b,
                             {tile, values.data,
                              b.add(from, b.mul(Index(k), values.strides[1])),
                              values.strides[1].constant},
                             rows, /*depth=*/1, sums);
        });
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t v = 0; v < tile.vectors; ++v)
        storeVector(after[r * tile.vectors + v], weighed, placeOf(r, v));
  };
  forEachValueTile(block, emitTile);
}

void AttentionEmitter::storeResults(const QueryBlock &block) {
  int64_t columns = plan.tile.vectors * lanes, all = values.shape[3];
  int64_t tiles = llvm::divideCeil(all, columns);
  auto type = VectorType::get({lanes}, b.b.getF32Type());
  Index count = b.min(b.sub(b.add(*block.last, 1), block.first),
                      block.count);
  Value one = floatConstant(b, 1);
  // Divides by 1 if there are no keys, so that the result is 0.
  Value isEmpty = b.compare(arith::CmpIPredicate::eq, numKeys, 0);
  forEach(b, 0, count, 1, [&](Value query) {
    Value sum = memref::LoadOp::create(b.b, b.loc, sums, query);
    sum = arith::SelectOp::create(b.b, b.loc, isEmpty, one, sum);
    Value factor = arith::DivFOp::create(b.b, b.loc, one, sum);
    auto emitColumns = [&](Value number, const Tile &full) {
      Tile tile = full.withRows(1);
      // Stores as f32, because every product leaves its sums as vectors of f32.
      tile.product = Product::f32;
      Index column = b.mul(Index(number), columns);
      Accumulators results;
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Index at = b.add(b.add(b.mul(Index(query), all), column), v * lanes);
        Value part =
            vector::LoadOp::create(b.b, b.loc, type, weighed, b.get(at));
        results.push_back(normalize(part, factor));
      }
      storeTile(b, tile, output, results, [&](IndexBuilder &b, Index) {
        return SmallVector<Index>{block.sample,
                                  b.add(block.first, Index(query)), block.head,
                                  column};
      });
    };
    forEachColumnTile(b, {0, tiles, tiles}, fullTile(plan.target, plan.tile),
                      lastTile(plan.target, plan.tile, all), emitColumns);
  });
}
