//===- PackedBytes.cpp - int8 rows times packed weights -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of rows that are rounded to int8 or to a fixed point of 24 bits, by
// weights in codes of a few bits:
//
//     for batch, column tile, row tile
//       for block of k
//         sums = factor * sum of the row's bytes
//         for 32-bit word of `32 / bits` neighbouring k
//           for shift: sums += four bytes of src * (word >> shift & mask)
//         accumulators += scale of the row * (scale of the column * sums)
//       epilogue, store
//
// An element of 24 bits has three digits, each a signed byte. A row of digits
// is multiplied as a row of bytes. The sums of the digits are multiplied by 1,
// 2^8 and 2^16 and added up, before they are scaled.
//
// Without VNNI, the products of pairs of bytes are added up as int16 first.
// Bytes of src are -128 to 127, and codes are 0 to 2^bits - 1. The magnitude of
// a pair is thus at most 2 * 128 * (2^bits - 1). With 4 bits this is 3840, and
// int16 holds the sum of 8 pairs. With 2 bits it is 768. Sums are widened
// before they can saturate.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/kernels/matmul/PackedTiles.h"
#include "passes/cpu/policy/Scratch.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/PairProducts.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The number of words that a step of the loop multiplies. With 4 bits, this is
/// a block of the usual size.
static const int64_t &kWordsAtOnce = cpu::threshold::packedByteWords;

namespace {

struct Emitter : PackedTiles {
  Emitter(OpBuilder &builder, cpu::PackedMatMulOp op)
      : PackedTiles(builder, op), bits(op.getFormat().getBits()),
        words(op.wordsOfBlock()), digits(cpu::digitsOf(op)) {}

  void emit(Value task);
  void emitRows(const Tile &tile, const PackedColumns &columns,
                const TaskRange &range);
  void emitTile(const Tile &tile, const PackedColumns &columns, Index row);
  Value unpackAll(const Tile &tile, const PackedColumns &columns);
  Accumulators addBlock(const Tile &tile, const PackedColumns &columns,
                        Index row, Index number, const Accumulators &sums);
  Value addDigits(const Tile &tile, ArrayRef<Value> sums);
  /// Words of a block: the offset of the block, and `count` words from word
  /// `first` on.
  struct WordRange {
    Index block, first;
    int64_t count;
  };
  void addWords(const Tile &tile, const PackedColumns &columns,
                ArrayRef<Index> rows, const WordRange &words,
                MutableArrayRef<Value> sums);
  Value loadWords(const Tile &tile, const PackedColumns &columns, Index word,
                  int64_t v);
  Value codesOf(Value words, int64_t four);
  Value broadcast(const Tile &tile, Index at);
  Value asReal(const Tile &tile, Value integers) {
    return arith::SIToFPOp::create(b.b, b.loc, realVector(tile), integers);
  }
  /// Returns true if there may be a single tile of rows. Then each word is read
  /// once, from memory and not from a cache.
  bool mayBeOneTile(const Tile &tile) const {
    return ShapedType::isDynamic(plan.rows) || plan.rows <= tile.rows;
  }
  int64_t foursOfWord() const { return 8 / bits; }

  int64_t bits;
  /// The number of words of a block, and of bytes of an element of src.
  int64_t words, digits;
  /// All codes of a column tile as bytes, if many rows share them; else null.
  Value unpacked;
};

} // namespace

void Emitter::emit(Value task) {
  forEachProductTile(b, task, op.getDst(), plan,
                     lastTile(plan.target, plan.tile, plan.columns),
                     [&](const Tile &tile, ArrayRef<Index> batch,
                         Index columnTile, const TaskRange &range) {
                       emitRows(tile, columnsAt(batch, columnTile), range);
                     });
}

void Emitter::emitRows(const Tile &tile, const PackedColumns &columns,
                       const TaskRange &range) {
  auto emitTiles = [&] {
    forEachRowTile(tile, range, [&](const Tile &part, Index row) {
      emitTile(part, columns, row);
    });
  };
  auto emitUnpacked = [&] {
    unpacked = unpackAll(tile, columns);
    emitTiles();
    unpacked = nullptr;
  };
  int64_t bytes = op.depth() * tile.vectors * tile.lanes;
  int64_t least = cpu::threshold::unpackedTiles * tile.rows;
  // Codes of digits are unpacked again in registers, which takes less time than
  // another load.
  if (bits == 8 || digits > 1 ||
      bytes > cpu::fitStack(cpu::threshold::unpackedBytes(plan.target)))
    return emitTiles();
  if (ShapedType::isDynamic(plan.rows))
    return b.branch(b.compare(arith::CmpIPredicate::uge,
                              b.sub(range.endRow, range.firstRow),
                              least),
                    emitUnpacked, emitTiles);
  if (plan.rows >= least)
    emitUnpacked();
  else
    emitTiles();
}

void Emitter::emitTile(const Tile &tile, const PackedColumns &columns,
                       Index row) {
  Tile floats = tile;
  floats.product = Product::f32;
  Accumulators sums =
      forEach(b, 0, op.blocks(), zeroAccumulators(b, floats),
              [&](Value number, const Accumulators &before) {
                return addBlock(floats, columns, row, Index(number), before);
              });
  store(floats, sums, columns, row);
}

/// Broadcasts the word `src[at]` to all lanes.
Value Emitter::broadcast(const Tile &tile, Index at) {
  Value word = memref::LoadOp::create(b.b, b.loc, src.data, b.get(at));
  return vector::BroadcastOp::create(
      b.b, b.loc, VectorType::get({tile.lanes}, word.getType()), word);
}

/// Loads row `word` of the words of vector v.
Value Emitter::loadWords(const Tile &tile, const PackedColumns &columns,
                         Index word, int64_t v) {
  return vector::LoadOp::create(
      b.b, b.loc, VectorType::get({tile.lanes}, b.b.getI32Type()),
      weights.data,
      b.get(weights.at(b, {columns.panel, word,
                           b.add(columns.inPanel, v * tile.lanes)})));
}

/// Extracts codes `4 * four` to `4 * four + 3` of each word as bytes.
Value Emitter::codesOf(Value words, int64_t four) {
  auto type = cast<VectorType>(words.getType());
  if (bits == 8)
    return words;
  if (four != 0)
    words = arith::ShRUIOp::create(b.b, b.loc, words,
                                   splatInt(b, type, four * bits));
  int64_t mask = ((int64_t(1) << bits) - 1) * 0x01010101;
  return arith::AndIOp::create(b.b, b.loc, words, splatInt(b, type, mask));
}

/// Unpacks the codes of all words of a column tile to the stack, in groups of
/// four.
Value Emitter::unpackAll(const Tile &tile, const PackedColumns &columns) {
  int64_t rowSize = tile.vectors * tile.lanes, all = op.blocks() * words;
  Value scratch =
      createScratch(b, all * foursOfWord() * rowSize, b.b.getI32Type());
  forEachBlock(b, all, kWordsAtOnce, [&](Index first, int64_t count) {
    for (int64_t w = 0; w < count; ++w)
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Index word = b.add(first, w);
        Value loaded = loadWords(tile, columns, word, v);
        for (int64_t four = 0; four < foursOfWord(); ++four)
          vector::StoreOp::create(
              b.b, b.loc, codesOf(loaded, four), scratch,
              b.get(b.add(b.mul(b.add(b.mul(word, foursOfWord()), four),
                                rowSize),
                          v * tile.lanes)));
      }
  });
  return scratch;
}

/// Adds the products of words and of the rows' bytes. `rows` has the offsets of
/// the bytes of each digit of each row.
void Emitter::addWords(const Tile &tile, const PackedColumns &columns,
                       ArrayRef<Index> rows, const WordRange &words,
                       MutableArrayRef<Value> sums) {
  int64_t all = rows.size() * tile.vectors, chains = sums.size() / all;
  bool isDot = plan.tile.product == Product::int8Dot;
  auto bytes = VectorType::get({tile.lanes * 4}, b.b.getI8Type());
  auto asBytes = [&](Value words) -> Value {
    return vector::BitCastOp::create(b.b, b.loc, bytes, words);
  };
  const int64_t largest = 2 * 128 * ((int64_t(1) << bits) - 1);
  const int64_t most = std::numeric_limits<int16_t>::max() / largest;
  // Sums of pairs as int16. Each sum has `waiting` products that are not yet
  // widened.
  SmallVector<Value> pairs(all);
  int64_t waiting = 0;
  auto widen = [&] {
    for (int64_t i = 0; i < all && waiting != 0; ++i) {
      Value ones = splatInt(b, cast<VectorType>(pairs[i].getType()), 1);
      sums[i] = cpu::addInt16(b, pairs[i], ones, sums[i]);
      pairs[i] = nullptr;
    }
    waiting = 0;
  };
  for (int64_t w = 0; w < words.count; ++w) {
    Index word = b.add(words.first, w), inPanel = b.add(words.block, word);
    if (mayBeOneTile(tile) && !unpacked)
      prefetchWords(columns, inPanel);
    SmallVector<Value> loaded;
    for (int64_t v = 0; v < tile.vectors && !unpacked; ++v)
      loaded.push_back(loadWords(tile, columns, inPanel, v));
    for (int64_t four = 0; four < foursOfWord(); ++four) {
      SmallVector<Value> codes;
      for (int64_t v = 0; v < tile.vectors; ++v) {
        if (!unpacked) {
          codes.push_back(codesOf(loaded[v], four));
          continue;
        }
        Index at = b.mul(b.add(b.mul(inPanel, foursOfWord()), four),
                         tile.vectors * tile.lanes);
        codes.push_back(vector::LoadOp::create(
            b.b, b.loc, VectorType::get({tile.lanes}, b.b.getI32Type()),
            unpacked, b.get(b.add(at, v * tile.lanes))));
      }
      for (auto [r, bytes] : llvm::enumerate(rows)) {
        Value row = broadcast(
            tile, b.add(b.add(bytes, four), b.mul(word, foursOfWord())));
        for (int64_t v = 0; v < tile.vectors; ++v) {
          int64_t i = r * tile.vectors + v;
          if (isDot) {
            Value &sum = sums[(w * foursOfWord() + four) % chains * all + i];
            sum = multiplyAddGroupsOfFour(b, codes[v], row, sum);
            continue;
          }
          Value products = multiplyBytes(b, asBytes(codes[v]), asBytes(row));
          pairs[i] = pairs[i] ? arith::AddIOp::create(b.b, b.loc, pairs[i],
                                                      products)
                                    .getResult()
                              : products;
        }
      }
      if (!isDot && ++waiting == most)
        widen();
    }
  }
  widen();
}

/// Returns the sum of all digits of a row as f32, from the sums of each digit.
Value Emitter::addDigits(const Tile &tile, ArrayRef<Value> sums) {
  if (sums.size() == 1)
    return asReal(tile, sums[0]);
  // i32 holds the sums of the two lowest digits, because splitBlockOf limits
  // the size of a block. The term for the zero point is in the sums.
  auto type = cast<VectorType>(sums[0].getType());
  Value low = arith::AddIOp::create(
      b.b, b.loc, sums[0],
      arith::ShLIOp::create(b.b, b.loc, sums[1], splatInt(b, type, 8)));
  Value weight = arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(realVector(tile), b.b.getF32FloatAttr(0x1p16f)));
  return multiplyAddVectors(b, tile.hasFMA, asReal(tile, sums[2]), weight,
                            asReal(tile, low));
}

/// Returns `sums` plus the products of block `number`.
Accumulators Emitter::addBlock(const Tile &tile, const PackedColumns &columns,
                               Index row, Index number,
                               const Accumulators &sums) {
  int64_t all = tile.rows * digits * tile.vectors;
  int64_t size = words * op.perWord();
  SmallVector<Index> heads, rows;
  SmallVector<Value> offsets;
  for (int64_t r = 0; r < tile.rows; ++r) {
    heads.push_back(srcAt(columns, b.add(row, r),
                          b.mul(number, cpu::roundedWords(size, digits))));
    for (int64_t i = 0; i < digits; ++i) {
      rows.push_back(b.add(heads[r], cpu::roundedHead(digits) + i * size / 4));
      offsets.push_back(broadcast(tile, b.add(heads[r], 1 + i)));
    }
  }
  // Uses two chains of sums if there are few rows. With one chain, each sum
  // would wait for the previous one.
  bool isDot = plan.tile.product == Product::int8Dot;
  int64_t chains = isDot && all < plan.target.sumsInFlight() ? 2 : 1;
  Accumulators carried;
  for (int64_t i = 0; i < all; ++i)
    carried.push_back(offsets[i / tile.vectors]);
  if (chains > 1)
    carried.append(all, splatInt(b, cast<VectorType>(offsets[0].getType()), 0));
  Index block = b.mul(number, words);
  carried = forEachBlock(
      b, words, kWordsAtOnce, carried,
      [&](Index first, int64_t count, const Accumulators &before) {
        Accumulators next = before;
        addWords(tile, columns, rows, {block, first, count}, next);
        return next;
      });
  addUp(b, carried, chains);

  SmallVector<Value> factors, points;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    factors.push_back(loadOfBlock(tile, columns, scales, number, v, 1));
    // Divides by the factor, because an offset is the factor times the sum of
    // the row's bytes.
    if (zeros)
      points.push_back(loadOfBlock(tile, columns, *zeros, number, v,
                                   1.0f / float(1 << (bits - 1))));
  }
  Accumulators result;
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value scale = vector::BitCastOp::create(b.b, b.loc, realVector(tile),
                                            broadcast(tile, heads[r]));
    for (int64_t v = 0; v < tile.vectors; ++v) {
      int64_t i = r * tile.vectors + v;
      SmallVector<Value> ofDigits;
      for (int64_t digit = 0; digit < digits; ++digit)
        ofDigits.push_back(carried[(r * digits + digit) * tile.vectors + v]);
      Value sum = addDigits(tile, ofDigits);
      if (zeros)
        sum = multiplyAddVectors(
            b, tile.hasFMA, points[v],
            addDigits(tile, ArrayRef(offsets).slice(r * digits, digits)), sum);
      // The product of the sum and a scale of large data might overflow.
      sum = arith::MulFOp::create(b.b, b.loc, sum, factors[v]);
      result.push_back(multiplyAddVectors(b, tile.hasFMA, sum, scale, sums[i]));
    }
  }
  return result;
}

void cpu::emitPackedBytes(OpBuilder &builder, cpu::PackedMatMulOp op,
                          Value task) {
  Emitter(builder, op).emit(task);
}
