//===- AttentionBytes.cpp - attention with products of bytes ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention with products of bytes, with all keys of a head at once:
//
//     words of four elements of the queries, one query a lane
//     for tile of keys: sums = keys · queries, scores as f32, on the stack
//     maxima, exponentials of the scores, sums: lane by lane
//     words of the probabilities of four keys, one query a lane
//     words of the values of four keys, one column a lane
//     for column tile of the values, tile of queries
//       result = probabilities · values; epilogue, store
//
// One factor of a product is unsigned and the other signed. The highest bit of
// queries and values is flipped if necessary, which moves their zero point by
// 128. Zero points are taken off by the sums of the other factor.
// AttentionByteBlocks.cpp handles blocks of keys.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/attention/AttentionEmitter.h"
#include "passes/cpu/products/ByteBlocks.h"
#include "passes/cpu/products/PairProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The bytes of a word, and what flipping the highest bit adds to a byte.
static constexpr int64_t kWord = 4, kFlip = 128;
/// A word whose bytes are 1, and one with the highest bit of each byte.
static constexpr int64_t kOnes = 0x01010101, kSignBits = 0x80808080;

/// Multiplies integers by a number.
static Value timesInteger(IndexBuilder &b, Value x, int64_t number) {
  auto type = cast<VectorType>(x.getType());
  return arith::MulIOp::create(b.b, b.loc, x, splatInt(b, type, number));
}

ByteAttention::ByteAttention(AttentionEmitter &all)
    : all(all), b(all.b), plan(all.plan), numbers(*all.op.getBytes()),
      lanes(all.lanes), size(all.size), columns(all.values.shape[3]),
      keys(plan.keysAtOnce),
      flipsQueries(numbers.getSrcSigned() == numbers.getKeysSigned()),
      queryZero(numbers.getSrcZero()), valueZero(numbers.getValuesZero()) {
  if (flipsQueries)
    queryZero += numbers.getSrcSigned() ? kFlip : -kFlip;
  if (!numbers.getValuesSigned())
    valueZero -= kFlip;
  auto scratch = [&](int64_t words) {
    return createScratch(b, words, b.b.getI32Type());
  };
  const int64_t groups = llvm::divideCeil(keys, kWord);
  queryWords = scratch(size / kWord * plan.queriesPerTask);
  powerWords = scratch(groups * plan.queriesPerTask);
  valueWords = scratch(groups * columns);
  if (numbers.getKeysZero() != 0)
    queryTerms = scratch(plan.queriesPerTask);
  if (queryZero != 0)
    keyTerms = scratch(keys);
  if (valueZero != 0)
    valueTerms = scratch(plan.queriesPerTask);
  if (plan.byBlocks)
    weighedWords = scratch(columns * plan.queriesPerTask);
}

void ByteAttention::emitBlock(const QueryBlock &block) {
  packQueries(block);
  sumKeys(block, 0, keys);
  all.sumScores(block);
  all.exponentiate(block);
  auto power = [&](Index place, int64_t v) {
    return all.loadScores(block, place, v);
  };
  Accumulators sums =
      forEach(b, 0, keys / kWord, Accumulators(block.vectors, wordsOf(0)),
              [&](Value group, const Accumulators &before) {
                return packPowers(block, Index(group), kWord, before, power);
              });
  if (keys % kWord != 0)
    sums = packPowers(block, keys / kWord, keys % kWord, sums, power);
  for (int64_t v = 0; v < block.vectors && valueTerms; ++v)
    all.storeVector(timesInteger(b, sums[v], -valueZero), valueTerms,
                    v * lanes);
  forEach(b, 0, keys / kWord, 1,
          [&](Value group) { packValues(block, 0, Index(group), kWord); });
  if (keys % kWord != 0)
    packValues(block, 0, keys / kWord, keys % kWord);
  multiplyValues(block);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

elementary::FloatBuilder ByteAttention::floats() {
  return {b.b, b.loc, VectorType::get({lanes}, b.b.getF32Type()),
          plan.target.hasFMA};
}

Value ByteAttention::loadRow(Value words, Index at) {
  return vector::LoadOp::create(b.b, b.loc, wordsType(lanes), words, b.get(at));
}

Value ByteAttention::loadSplat(Value words, Index at) {
  return splat(b, lanes, memref::LoadOp::create(b.b, b.loc, words, b.get(at)));
}

Value ByteAttention::loadWords(Value bytes, Index at, int64_t words) {
  auto type = VectorType::get({words * kWord}, b.b.getI8Type());
  Value loaded = vector::LoadOp::create(b.b, b.loc, type, bytes, b.get(at));
  return vector::BitCastOp::create(b.b, b.loc, wordsType(words), loaded);
}

Value ByteAttention::flipSigns(Value words) {
  auto type = cast<VectorType>(words.getType());
  return arith::XOrIOp::create(b.b, b.loc, words, splatInt(b, type, kSignBits));
}

Value ByteAttention::dot(Value bytes, Value weights, Value sum) {
  if (plan.target.hasVNNI)
    return multiplyAddGroupsOfFour(b, bytes, weights, sum);
  Value pairs = asInt16(b, bytes);
  auto type = cast<VectorType>(pairs.getType());
  Value even = arith::AndIOp::create(b.b, b.loc, pairs, splatInt(b, type, 255));
  Value odd = arith::ShRUIOp::create(b.b, b.loc, pairs, splatInt(b, type, 8));
  sum = addInt16(b, even, widenBytes(b, weights, 0), sum);
  return addInt16(b, odd, widenBytes(b, weights, 1), sum);
}

Value ByteAttention::times(Value x, double factor) {
  elementary::FloatBuilder f = floats();
  return float(factor) == 1 ? x : f.mul(x, f.number(factor));
}

Value ByteAttention::round(Value x, DenseF32ArrayAttr rounding) {
  elementary::FloatBuilder f = floats();
  Value least = f.number(rounding[1]), most = f.number(rounding[2]);
  x = f.select(arith::CmpFPredicate::OLT, x, least, least, x);
  x = f.select(arith::CmpFPredicate::OGT, x, most, most, x);
  return math::RoundEvenOp::create(b.b, b.loc, x);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

void ByteAttention::packQueries(const QueryBlock &block) {
  const int64_t words = size / kWord, zero = numbers.getKeysZero();
  Value none = wordsOf(0), ones = wordsOf(kOnes);
  const bool isSigned = !numbers.getKeysSigned();
  for (int64_t v = 0; v < block.vectors; ++v) {
    Value sums = none;
    for (int64_t first = 0; first < words; first += lanes) {
      const int64_t count = std::min(lanes, words - first);
      SmallVector<Value> rows(lanes, none);
      SmallVector<int64_t> widened(lanes, 0);
      for (int64_t i = 0; i < count; ++i)
        widened[i] = i;
      for (int64_t r = 0; r < std::min(lanes, block.count - v * lanes); ++r) {
        Index query = b.add(block.first, v * lanes + r);
        if (block.last)
          query = b.min(query, *block.last);
        Value row = loadWords(
            all.src.data,
            all.src.at(b, {block.sample, query, block.head, first * kWord}),
            count);
        if (count < lanes)
          row = vector::ShuffleOp::create(b.b, b.loc, row, row, widened);
        rows[r] = flipsQueries ? flipSigns(row) : row;
      }
      transpose(b, rows);
      for (int64_t i = 0; i < count; ++i) {
        all.storeVector(rows[i], queryWords,
                        (first + i) * all.width(block) + v * lanes);
        if (queryTerms)
          sums = isSigned ? dot(ones, rows[i], sums) : dot(rows[i], ones, sums);
      }
    }
    if (!queryTerms)
      continue;
    Value terms =
        arith::AddIOp::create(b.b, b.loc, timesInteger(b, sums, -zero),
                              wordsOf(size * queryZero * zero));
    all.storeVector(terms, queryTerms, v * lanes);
  }
}

/// Signed bytes are summed as unsigned bytes.
void ByteAttention::sumKeys(const QueryBlock &block, Index key, Index count) {
  if (!keyTerms)
    return;
  Type word = b.b.getI32Type();
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b.b, b.loc,
                                     b.b.getI32IntegerAttr(int32_t(value)));
  };
  forEach(b, 0, count, 1, [&](Value place) {
    Index at =
        all.keys.at(b, {block.sample, b.add(key, Index(place)), block.head, 0});
    Value sum;
    for (int64_t first = 0, part = 0; first < size; first += part) {
      part = int64_t(
          llvm::bit_floor(uint64_t(std::min(size - first, lanes * kWord))));
      auto type = VectorType::get({part}, b.b.getI8Type());
      Value bytes = vector::LoadOp::create(b.b, b.loc, type, all.keys.data,
                                           b.get(b.add(at, first)));
      if (numbers.getKeysSigned())
        bytes =
            arith::XOrIOp::create(b.b, b.loc, bytes, splatInt(b, type, -kFlip));
      bytes = arith::ExtUIOp::create(b.b, b.loc, type.clone(word), bytes);
      Value added = vector::ReductionOp::create(
          b.b, b.loc, vector::CombiningKind::ADD, bytes);
      sum = sum ? arith::AddIOp::create(b.b, b.loc, sum, added).getResult()
                : added;
    }
    sum = arith::MulIOp::create(b.b, b.loc, sum, number(-queryZero));
    if (numbers.getKeysSigned())
      sum = arith::AddIOp::create(b.b, b.loc, sum,
                                  number(queryZero * kFlip * size));
    memref::StoreOp::create(b.b, b.loc, sum, keyTerms, place);
  });
}

void ByteAttention::sumTile(const QueryBlock &block, int64_t count, Index key,
                            Index place) {
  const int64_t vectors = block.vectors, atOnce = kWord;
  Accumulators start(count * vectors, wordsOf(0));
  for (int64_t r = 0; r < count && (keyTerms || queryTerms); ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = start[r * vectors + v];
      if (keyTerms)
        sum = loadSplat(keyTerms, b.add(place, r));
      if (!queryTerms)
        continue;
      Value terms = loadRow(queryTerms, v * lanes);
      sum = keyTerms ? arith::AddIOp::create(b.b, b.loc, sum, terms).getResult()
                     : terms;
    }
  SmallVector<Index> rows;
  for (int64_t r = 0; r < count; ++r)
    rows.push_back(
        all.keys.at(b, {block.sample, b.add(key, r), block.head, 0}));
  // Heads have a multiple of 16 elements, which are four words.
  auto step = [&](Value number, const Accumulators &before) {
    Accumulators sums = before;
    for (int64_t i = 0; i < atOnce; ++i) {
      Index word = b.add(b.mul(Index(number), atOnce), i);
      SmallVector<Value> queries;
      for (int64_t v = 0; v < vectors; ++v)
        queries.push_back(loadRow(
            queryWords, b.add(b.mul(word, all.width(block)), v * lanes)));
      for (int64_t r = 0; r < count; ++r) {
        Value keyWord =
            splat(b, lanes,
                  loadGroup(b, all.keys.data,
                            b.add(rows[r], b.mul(word, kWord)), kWord));
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = sums[r * vectors + v];
          sum = numbers.getKeysSigned() ? dot(queries[v], keyWord, sum)
                                        : dot(keyWord, queries[v], sum);
        }
      }
    }
    return sums;
  };
  Accumulators sums = forEach(b, 0, size / kWord / atOnce, start, step);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      all.storeVector(scoreOf(block, sums[r * vectors + v], b.add(key, r), v),
                      all.scores, all.placeOf(block, b.add(place, r), v));
}

Value ByteAttention::scoreOf(const QueryBlock &block, Value sum, Index key,
                             int64_t vector) {
  Value x = arith::SIToFPOp::create(b.b, b.loc, floats().type, sum);
  // The number that x still has to be multiplied by.
  double factor = numbers.getProductScale().getValueAsDouble();
  auto roundTo = [&](DenseF32ArrayAttr rounding) {
    if (!rounding)
      return;
    x = round(times(x, factor / rounding[0]), rounding);
    factor = rounding[0];
  };
  roundTo(numbers.getProductRounding());
  factor *= all.op.getScale().convertToDouble();
  roundTo(numbers.getScoreRounding());
  if (!all.mask.empty()) {
    x = all.addMask(block, times(x, factor), key, vector);
    factor = 1;
  }
  roundTo(numbers.getMaskedRounding());
  return times(x, factor);
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

Accumulators ByteAttention::packPowers(const QueryBlock &block, Index group,
                                       int64_t count, const Accumulators &sums,
                                       PowerFn power) {
  elementary::FloatBuilder f = floats();
  const double perUnit = 1 / numbers.getPScale().getValueAsDouble();
  const auto most = double(numbers.getPMost());
  // A probability of 1 may be rounded to `most` from a quarter above it.
  const bool mayExceed = perUnit > most + 0.25;
  auto type = wordsType(lanes);
  Accumulators after = sums;
  for (int64_t v = 0; v < block.vectors; ++v) {
    Value factor = times(all.loadVector(all.factors, v * lanes), perUnit);
    Value word;
    for (int64_t i = 0; i < count; ++i) {
      Value x = f.mul(power(b.add(b.mul(group, kWord), i), v), factor);
      if (mayExceed)
        x = f.select(arith::CmpFPredicate::OGT, x, f.number(most),
                     f.number(most), x);
      Value whole = arith::FPToSIOp::create(
          b.b, b.loc, type, math::RoundEvenOp::create(b.b, b.loc, x));
      if (i != 0)
        whole = arith::ShLIOp::create(b.b, b.loc, whole, wordsOf(8 * i));
      word = word ? arith::OrIOp::create(b.b, b.loc, word, whole).getResult()
                  : whole;
    }
    all.storeVector(word, powerWords,
                    b.add(b.mul(group, all.width(block)), v * lanes));
    if (valueTerms)
      after[v] = dot(word, wordsOf(kOnes), after[v]);
  }
  return after;
}

void ByteAttention::packValues(const QueryBlock &block, Index key, Index group,
                               int64_t count, std::optional<Index> last) {
  auto type = VectorType::get({lanes}, b.b.getI8Type());
  SmallVector<Index> from;
  for (int64_t i = 0; i < count; ++i) {
    Index row = b.add(key, b.add(b.mul(group, kWord), i));
    from.push_back(all.values.at(
        b, {block.sample, last ? b.min(row, *last) : row, block.head, 0}));
  }
  for (int64_t column = 0; column < columns; column += lanes) {
    SmallVector<Value> rows;
    for (Index at : from)
      rows.push_back(vector::LoadOp::create(b.b, b.loc, type, all.values.data,
                                            b.get(b.add(at, column))));
    Value words = unpackVector(b, rows);
    if (!numbers.getValuesSigned())
      words = flipSigns(words);
    all.storeVector(words, valueWords, b.add(b.mul(group, columns), column));
  }
}

Accumulators ByteAttention::multiplyTile(const QueryBlock &block,
                                         const Tile &tile, Index column,
                                         Index first, Index groups,
                                         const Accumulators &start) {
  auto step = [&](Value group, const Accumulators &before) {
    Accumulators sums = before;
    SmallVector<Value> weights;
    for (int64_t v = 0; v < tile.vectors; ++v)
      weights.push_back(
          loadRow(valueWords, b.add(b.add(b.mul(Index(group), columns), column),
                                    v * lanes)));
    for (int64_t r = 0; r < tile.rows; ++r) {
      Value powers = loadSplat(
          powerWords,
          b.add(b.add(b.mul(Index(group), all.width(block)), first), r));
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value &sum = sums[r * tile.vectors + v];
        sum = dot(powers, weights[v], sum);
      }
    }
    return sums;
  };
  return forEach(b, 0, groups, start, step);
}

Accumulators ByteAttention::resultsOf(const Accumulators &sums) {
  Accumulators results;
  for (Value sum : sums)
    results.push_back(
        times(arith::SIToFPOp::create(b.b, b.loc, floats().type, sum),
              numbers.getResultScale().getValueAsDouble()));
  return results;
}

void ByteAttention::multiplyValues(const QueryBlock &block) {
  all.forEachValueTile(block, [&](const Tile &tile, Index column, Index first) {
    Accumulators start(tile.rows * tile.vectors, wordsOf(0));
    for (int64_t r = 0; r < tile.rows && valueTerms; ++r)
      for (int64_t v = 0; v < tile.vectors; ++v)
        start[r * tile.vectors + v] = loadSplat(valueTerms, b.add(first, r));
    Accumulators results = resultsOf(multiplyTile(
        block, tile, column, first, llvm::divideCeil(keys, kWord), start));
    // Results are stored as f32.
    Tile stored = tile;
    stored.product = Product::f32;
    storeTile(b, stored, all.output, results, [&](IndexBuilder &b, Index row) {
      return SmallVector<Index>{block.sample,
                                b.add(b.add(block.first, first), row),
                                block.head, column};
    });
  });
}
