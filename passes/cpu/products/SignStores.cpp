//===- SignStores.cpp - signs stored as bits ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of the bits is in dialects/cpu/Signs.h. One task stores all column
// tiles of a pixel in order. The earlier bits of a word are thus stored before
// later bits extend it.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/Signs.h"
#include "passes/cpu/products/MicroKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// The words of a pixel, to which bits are joined.
struct Pixel {
  Value dst;
  Index at;
  int64_t words;

  Value load(IndexBuilder &b, Index word) const {
    return memref::LoadOp::create(b.b, b.loc, dst, b.get(b.add(at, word)));
  }
  void store(IndexBuilder &b, Value value, Index word) const {
    memref::StoreOp::create(b.b, b.loc, value, dst, b.get(b.add(at, word)));
  }

  void joinBits(IndexBuilder &b, Value bits, int64_t plane, Index column,
                bool isWordsFirst) const;
  void joinZeros(IndexBuilder &b, Value zeros, Index column) const;
};

} // namespace

static Value toWord(IndexBuilder &b, Index x) {
  return arith::IndexCastOp::create(b.b, b.loc, b.b.getI32Type(), b.get(x));
}

/// Returns an i1 vector as a word, with its first bit at bit `shift`.
static Value bitsOf(IndexBuilder &b, Value vector, int64_t shift) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  Type mask = b.b.getIntegerType(lanes), word = b.b.getI32Type();
  Value bits = vector::BitCastOp::create(b.b, b.loc, VectorType::get({1}, mask),
                                         vector);
  bits = vector::ExtractOp::create(b.b, b.loc, bits, 0);
  if (lanes < cpu::kSignsOfWord)
    bits = arith::ExtUIOp::create(b.b, b.loc, word, bits);
  if (shift == 0)
    return bits;
  Value by = arith::ConstantOp::create(b.b, b.loc,
                                       b.b.getI32IntegerAttr(shift));
  return arith::ShLIOp::create(b.b, b.loc, bits, by);
}

/// Joins the bits of `column` and the following columns to their word. The
/// first bits of an even word replace it. The first bits of an odd word are
/// xor-ed with the previous word. Later bits are xor-ed into their word.
void Pixel::joinBits(IndexBuilder &b, Value bits, int64_t plane, Index column,
                     bool isWordsFirst) const {
  Index word = b.div(column, cpu::kSignsOfWord), odd = b.rem(word, 2);
  Index from = b.sub(word, odd), keep = b.mul(odd, -1);
  if (!isWordsFirst) {
    Index inWord = b.rem(column, cpu::kSignsOfWord);
    Value isFirst = b.compare(arith::CmpIPredicate::eq, inWord, 0);
    from = b.select(isFirst, from, word);
    keep = b.select(isFirst, keep, -1);
    bits = arith::ShLIOp::create(b.b, b.loc, bits, toWord(b, inWord));
  }
  Value kept = arith::AndIOp::create(
      b.b, b.loc, load(b, b.add(from, plane * words)), toWord(b, keep));
  store(b, arith::XOrIOp::create(b.b, b.loc, kept, bits),
        b.add(word, plane * words));
}

void Pixel::joinZeros(IndexBuilder &b, Value zeros, Index column) const {
  Value isFirst = b.compare(arith::CmpIPredicate::eq, column, 0);
  Value kept =
      arith::AndIOp::create(b.b, b.loc, load(b, 2 * words),
                            toWord(b, b.select(isFirst, 0, -1)));
  store(b, arith::OrIOp::create(b.b, b.loc, kept, zeros), 2 * words);
}

void cpu::storeSigns(IndexBuilder &b, const Tile &tile, const Output &output,
                     int64_t signs, ValueRange sums,
                     ArrayRef<Index> coordinates) {
  constexpr int64_t kWord = cpu::kSignsOfWord;
  SmallVector<Index> start(coordinates);
  start.back() = 0;
  Pixel pixel{output.dst.data, output.dst.at(b, start), cpu::signWords(signs)};
  int64_t planes = cpu::planesOf(signs, output.dst.shape.back());
  int64_t ofWord = std::max<int64_t>(kWord / tile.lanes, 1);
  for (int64_t first = 0; first < tile.vectors; first += ofWord) {
    SmallVector<Value> bits(planes);
    for (int64_t v = first; v < std::min(first + ofWord, tile.vectors); ++v) {
      VectorAt place;
      llvm::append_range(place.coordinates, coordinates);
      Index &column = place.coordinates.back();
      column = b.add(column, v * tile.lanes);
      place.lanes = tile.lanes;
      place.valid = v == tile.vectors - 1 ? tile.lastLanes : tile.lanes;
      SmallVector<Value> yielded = runEpilogue(b, output, sums[v], place);
      for (auto [joined, is] : llvm::zip_equal(bits, yielded)) {
        if (!place.isWhole())
          is = arith::AndIOp::create(b.b, b.loc, is, maskOf(b, place));
        Value more = bitsOf(b, is, (v - first) * tile.lanes);
        joined = joined ? arith::OrIOp::create(b.b, b.loc, joined, more)
                              .getResult()
                        : more;
      }
    }
    Index column = b.add(coordinates.back(), first * tile.lanes);
    bool isWordsFirst = tile.vectors * tile.lanes % kWord == 0;
    for (auto [plane, joined] : llvm::enumerate(bits))
      pixel.joinBits(b, joined, plane, column, isWordsFirst);
    if (planes == 2)
      pixel.joinZeros(
          b, arith::XOrIOp::create(b.b, b.loc, bits[0], bits[1]), column);
  }
}
