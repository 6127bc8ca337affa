//===- Transposes.cpp - squares of elements turned in registers -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/rows/Transposes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

int64_t codegen::squareOf(const TargetInfo &target) {
  return std::min<int64_t>(target.lanes, 8);
}

static Value shuffle(IndexBuilder &b, Value x, Value y,
                     ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(b.b, b.loc, x, y, lanes);
}

/// Rows of 128 bits: each step interleaves those that are half of them apart.
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

/// Runs of `size` elements of x and of y in turn, the first or the second half
/// of each 128 bits.
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

SmallVector<Value> codegen::transposeSquare(IndexBuilder &b,
                                            ArrayRef<Value> rows) {
  int64_t count = rows.size();
  auto type = cast<VectorType>(rows[0].getType());
  assert(type.getDimSize(0) == count && "a square");
  if (count * type.getElementTypeBitWidth() == 128)
    return transposeNarrow(b, rows);
  assert(count == 8 && type.getElementTypeBitWidth() == 32);
  // In each 128 bits 4 rows by 4 columns, first of single elements, then of
  // pairs.
  SmallVector<Value> turned(count);
  for (int64_t first = 0; first < count; first += 4) {
    Value pairs[4];
    for (int64_t i : {0, 1})
      for (int64_t half : {0, 1})
        pairs[2 * i + half] = interleave(b, rows[first + 2 * i],
                                         rows[first + 2 * i + 1], 1, half);
    for (int64_t column = 0; column < 4; ++column)
      turned[first + column] = interleave(b, pairs[column / 2],
                                          pairs[2 + column / 2], 2, column % 2);
  }
  SmallVector<Value> columns(count);
  for (int64_t i = 0; i < 4; ++i) {
    columns[i] = shuffle(b, turned[i], turned[4 + i],
                         {0, 1, 2, 3, 8, 9, 10, 11});
    columns[4 + i] = shuffle(b, turned[i], turned[4 + i],
                             {4, 5, 6, 7, 12, 13, 14, 15});
  }
  return columns;
}
