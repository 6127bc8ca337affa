//===- AttentionByteBlocks.cpp - bytes by blocks of keys ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of bytes by blocks of keys, for open sizes and many keys:
//
//     for block of keys: scores, maxima, sums of exponentials
//     for block of keys: scores again, rounded probabilities,
//       weighed += probabilities · values
//     result = weighed; epilogue, store
//
// A probability is rounded only when the sum of exponentials is known. So the
// scores are computed twice, which costs less than storing them.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/attention/AttentionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The keys of a group.
static constexpr int64_t kWord = 4;

void ByteAttention::emitByBlocks(const QueryBlock &block) {
  packQueries(block);
  all.startSums(block);
  Value none = wordsOf(0);
  forEach(b, 0, all.width(block) * columns, lanes,
          [&](Value at) { all.storeVector(none, weighedWords, Index(at)); });
  for (int64_t v = 0; v < block.vectors && valueTerms; ++v)
    all.storeVector(none, valueTerms, v * lanes);
  auto forEachBlockOfKeys = [&](function_ref<void(Index, Index)> body) {
    forEach(b, 0, all.numKeys, plan.keysAtOnce, [&](Value key) {
      Index count = b.min(b.sub(all.numKeys, Index(key)), plan.keysAtOnce);
      sumKeys(block, Index(key), count);
      all.sumScores(block, Index(key), count);
      body(Index(key), count);
    });
  };
  forEachBlockOfKeys(
      [&](Index key, Index count) { all.exponentiate(block, key, count); });
  // Subtracts 0 if all scores are -inf, as raiseMaxima does.
  elementary::FloatBuilder f = floats();
  Value lowest = f.number(-std::numeric_limits<double>::infinity());
  for (int64_t v = 0; v < block.vectors; ++v) {
    Value sum = all.loadVector(all.sums, v * lanes),
          highest = all.loadVector(all.maxima, v * lanes);
    all.storeVector(f.div(f.number(1), sum), all.factors, v * lanes);
    all.storeVector(f.select(arith::CmpFPredicate::OEQ, highest, lowest,
                             f.number(0), highest),
                    all.maxima, v * lanes);
  }
  forEachBlockOfKeys([&](Index key, Index count) {
    addPowers(block, count);
    addValues(block, key, count);
  });
  storeResults(block);
}

/// Fills the last group with scores of -inf, whose probabilities are 0.
void ByteAttention::addPowers(const QueryBlock &block, Index count) {
  Index groups = b.divideCeil(count, kWord);
  elementary::FloatBuilder f = floats();
  Value lowest = f.number(-std::numeric_limits<double>::infinity());
  forEach(b, count, b.mul(groups, kWord), 1, [&](Value place) {
    for (int64_t v = 0; v < block.vectors; ++v)
      all.storeVector(lowest, all.scores, all.placeOf(block, Index(place), v));
  });
  auto power = [&](Index place, int64_t v) -> Value {
    Value shifted = f.sub(all.loadScores(block, place, v),
                          all.loadVector(all.maxima, v * lanes));
    return math::ExpOp::create(b.b, b.loc, shifted);
  };
  Accumulators sums =
      forEach(b, 0, groups, Accumulators(block.vectors, wordsOf(0)),
              [&](Value group, const Accumulators &before) {
                return packPowers(block, Index(group), kWord, before, power);
              });
  for (int64_t v = 0; v < block.vectors && valueTerms; ++v) {
    Value term =
        arith::MulIOp::create(b.b, b.loc, sums[v], wordsOf(-valueZero));
    term =
        arith::AddIOp::create(b.b, b.loc, term, loadRow(valueTerms, v * lanes));
    all.storeVector(term, valueTerms, v * lanes);
  }
}

void ByteAttention::addValues(const QueryBlock &block, Index key, Index count) {
  Index groups = b.divideCeil(count, kWord),
        last = b.add(b.add(key, count), -1);
  forEach(b, 0, groups, 1, [&](Value group) {
    packValues(block, key, Index(group), kWord, last);
  });
  all.forEachValueTile(block, [&](const Tile &tile, Index column, Index first) {
    auto placeOf = [&](int64_t i) {
      Index row = b.add(first, i / tile.vectors);
      return b.add(b.add(b.mul(row, columns), column),
                   i % tile.vectors * lanes);
    };
    Accumulators start;
    for (int64_t i = 0; i < tile.rows * tile.vectors; ++i)
      start.push_back(loadRow(weighedWords, placeOf(i)));
    Accumulators sums = multiplyTile(block, tile, column, first, groups, start);
    for (auto [i, sum] : llvm::enumerate(sums))
      all.storeVector(sum, weighedWords, placeOf(int64_t(i)));
  });
}

void ByteAttention::storeResults(const QueryBlock &block) {
  const int64_t ofTile = plan.tile.vectors * lanes;
  const int64_t tiles = llvm::divideCeil(columns, ofTile);
  Index count = b.min(b.sub(b.add(*block.last, 1), block.first), block.count);
  forEach(b, 0, count, 1, [&](Value query) {
    auto emitColumns = [&](Value number, const Tile &full) {
      Tile tile = full.withRows(1);
      tile.product = Product::f32;
      Index column = b.mul(Index(number), ofTile);
      Accumulators sums;
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value sum = loadRow(
            weighedWords,
            b.add(b.add(b.mul(Index(query), columns), column), v * lanes));
        if (valueTerms)
          sum = arith::AddIOp::create(b.b, b.loc, sum,
                                      loadSplat(valueTerms, Index(query)));
        sums.push_back(sum);
      }
      storeTile(b, tile, all.output, resultsOf(sums),
                [&](IndexBuilder &b, Index) {
                  return SmallVector<Index>{block.sample,
                                            b.add(block.first, Index(query)),
                                            block.head, column};
                });
    };
    forEachColumnTile(b, {0, tiles, tiles}, fullTile(plan.target, plan.tile),
                      lastTile(plan.target, plan.tile, columns), emitColumns);
  });
}
