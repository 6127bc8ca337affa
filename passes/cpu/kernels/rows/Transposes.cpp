//===- Transposes.cpp - transpositions in registers -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/Transposes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

int64_t cpu::squareOf(const TargetInfo &target) {
  return std::min<int64_t>(target.lanes, 8);
}

static Value shuffle(IndexBuilder &b, Value x, Value y,
                     ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(b.b, b.loc, x, y, lanes);
}

/// Transposes rows of 128 bits. Each step interleaves pairs of rows whose
/// distance is half of the number of rows.
static SmallVector<Value> transposeNarrow(IndexBuilder &b,
                                          ArrayRef<Value> rows) {
  int64_t count = rows.size();
  SmallVector<Value> now(rows);
  for (int64_t step = 1; step < count; step *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < count / 2; ++i)
      for (int64_t half = 0; half < 2; ++half) {
        SmallVector<int64_t> lanes;
        for (int64_t lane = 0; lane < count / 2; ++lane) {
          lanes.push_back(half * (count / 2) + lane);
          lanes.push_back(count + half * (count / 2) + lane);
        }
        next.push_back(shuffle(b, now[i], now[i + count / 2], lanes));
      }
    now = next;
  }
  return now;
}

/// Interleaves runs of `size` elements of x and y, from the first or the second
/// half of each 128 bits.
static Value interleave(IndexBuilder &b, Value x, Value y, int64_t size,
                        bool second) {
  int64_t count = cast<VectorType>(x.getType()).getDimSize(0);
  constexpr int64_t kPart = 4;
  SmallVector<int64_t> lanes;
  for (int64_t part = 0; part < count; part += kPart)
    for (int64_t at = 0; at < kPart / 2; at += size)
      for (int64_t from : {int64_t(0), count})
        for (int64_t i = 0; i < size; ++i)
          lanes.push_back(from + part + (second ? kPart / 2 : 0) + at + i);
  return shuffle(b, x, y, lanes);
}

/// Transposes 4 rows by 4 columns in each 128 bits of four rows: interleaves
/// single elements first, then pairs.
static SmallVector<Value> transposeBlocksOfFour(IndexBuilder &b,
                                                ArrayRef<Value> rows) {
  assert(rows.size() == 4);
  Value pairs[4];
  for (int64_t i : {0, 1})
    for (int64_t half : {0, 1})
      pairs[2 * i + half] =
          interleave(b, rows[2 * i], rows[2 * i + 1], 1, half);
  SmallVector<Value> columns;
  for (int64_t column = 0; column < 4; ++column)
    columns.push_back(interleave(b, pairs[column / 2], pairs[2 + column / 2],
                                 2, column % 2));
  return columns;
}

SmallVector<Value> cpu::transposeSquare(IndexBuilder &b, ArrayRef<Value> rows) {
  int64_t count = rows.size();
  auto type = cast<VectorType>(rows[0].getType());
  assert(type.getDimSize(0) == count && "a square");
  if (count * type.getElementTypeBitWidth() == 128)
    return transposeNarrow(b, rows);
  assert(count == 8 && type.getElementTypeBitWidth() == 32);
  SmallVector<Value> halves = transposeBlocksOfFour(b, rows.take_front(4));
  llvm::append_range(halves, transposeBlocksOfFour(b, rows.drop_front(4)));
  SmallVector<Value> columns(count);
  for (int64_t i = 0; i < 4; ++i) {
    columns[i] =
        shuffle(b, halves[i], halves[4 + i], {0, 1, 2, 3, 8, 9, 10, 11});
    columns[4 + i] =
        shuffle(b, halves[i], halves[4 + i], {4, 5, 6, 7, 12, 13, 14, 15});
  }
  return columns;
}

//===----------------------------------------------------------------------===//
// Bytes in words
//===----------------------------------------------------------------------===//

static VectorType wordsOf(IndexBuilder &b) {
  return VectorType::get({kByteSquare}, b.b.getI32Type());
}
static VectorType bytesOf(IndexBuilder &b) {
  return VectorType::get({kByteSquare}, b.b.getI8Type());
}

Value cpu::joinBytes(IndexBuilder &b, ArrayRef<Value> rows) {
  VectorType type = wordsOf(b);
  Value joined;
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value word = row;
    // The last byte needs no mask, because the shift removes all other bits.
    if (i != 3)
      word = arith::AndIOp::create(b.b, b.loc, word, splatInt(b, type, 0xff));
    if (i != 0)
      word = arith::ShLIOp::create(b.b, b.loc, word,
                                   splatInt(b, type, 8 * int64_t(i)));
    joined = joined ? arith::OrIOp::create(b.b, b.loc, joined, word) : word;
  }
  return joined;
}

Value cpu::byteOf(IndexBuilder &b, Value words, int64_t i) {
  if (i != 0)
    words = arith::ShRUIOp::create(b.b, b.loc, words,
                                   splatInt(b, wordsOf(b), 8 * i));
  return arith::TruncIOp::create(b.b, b.loc, bytesOf(b), words);
}

SmallVector<Value> cpu::transposeWords(IndexBuilder &b, ArrayRef<Value> rows) {
  SmallVector<Value> words(rows);
  words.resize(4, splatInt(b, wordsOf(b), 0));
  SmallVector<Value> halves = transposeBlocksOfFour(b, words), columns;
  for (int64_t i = 0; i < kByteSquare; ++i) {
    int64_t first = i / 4 * 4;
    Value column = shuffle(b, halves[i % 4], halves[i % 4],
                           llvm::to_vector(llvm::seq(first, first + 4)));
    columns.push_back(
        vector::BitCastOp::create(b.b, b.loc, bytesOf(b), column));
  }
  return columns;
}

Value cpu::concatenate(IndexBuilder &b, SmallVector<Value> parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    int64_t lanes = cast<VectorType>(parts[0].getType()).getDimSize(0);
    auto both = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = shuffle(b, parts[2 * i], parts[2 * i + 1], both);
  }
  return parts[0];
}

SmallVector<Value> cpu::transposeToWords(IndexBuilder &b,
                                         ArrayRef<Value> rows) {
  auto four = VectorType::get({4}, b.b.getI32Type());
  SmallVector<Value> joined;
  for (int64_t i = 0; i < 4; ++i) {
    SmallVector<Value> parts;
    for (int64_t row = i; row < kByteSquare; row += 4)
      parts.push_back(vector::BitCastOp::create(b.b, b.loc, four, rows[row]));
    joined.push_back(concatenate(b, parts));
  }
  return transposeBlocksOfFour(b, joined);
}
