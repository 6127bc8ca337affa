//===- RowTiling.cpp - rows cut into register tiles -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/RowTiling.h"

#include "llvm/Support/MathExtras.h"

#include <functional>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static Value isMore(IndexBuilder &b, Index x, Index y) {
  return b.compare(arith::CmpIPredicate::sgt, x, y);
}

Index RowTiling::sizeFor(IndexBuilder &b, Index count) const {
  Index size = sizes.front();
  for (int64_t lower : ArrayRef(sizes).drop_front())
    size = b.select(isMore(b, count, lower), size, lower);
  return size;
}

void RowTiling::choose(IndexBuilder &b, Index count,
                       function_ref<void(int64_t)> body) const {
  std::function<void(ArrayRef<int64_t>)> emit = [&](ArrayRef<int64_t> left) {
    if (left.size() == 1)
      return body(left.front());
    b.branch(
        isMore(b, count, left[1]), [&] { body(left.front()); },
        [&] { emit(left.drop_front()); });
  };
  emit(sizes);
}

int64_t RowTiling::mostBeyond(int64_t size) const {
  int64_t lower = 0;
  for (int64_t other : sizes)
    if (other < size)
      lower = std::max(lower, other);
  return size - lower - 1;
}

Index RowTiling::cutRest(IndexBuilder &b, const Rest &rest,
                         function_ref<void(const CutTile &)> body) const {
  Index row = rest.first, end = rest.end;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t size = sizes[i];
    int64_t left = i + 1 < sizes.size() ? sizes[i + 1] : rest.uncut;
    // Uses as few tiles of this size as possible. The remaining rows must fit
    // in a tile of the next size, or be at most `uncut` rows.
    Index cut = b.max(b.add(b.sub(end, row), -left), 0);
    Index first = row;
    Index last = b.min(b.add(row, b.mul(b.divideCeil(cut, size), size)), end);
    const bool isHigher = rest.mayBeHigher(size);
    if (!isHigher)
      last =
          b.select(b.compare(arith::CmpIPredicate::sge, end, size), last, row);
    forEach(b, first, last, size, [&](Value wanted) {
      Index at = b.min(Index(wanted), b.add(end, -size));
      std::optional<Index> there;
      if (isHigher) {
        at = b.max(at, 0);
        there = b.min(b.sub(end, at), size);
      }
      body({size, at, Index(wanted), first, there});
    });
    row = last;
  }
  return row;
}

void RowTiling::cutInTurn(IndexBuilder &b, Index first, Index end,
                          function_ref<void(int64_t, Index)> body) const {
  Index row = first;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    // The end of the rows that tiles of this size cover.
    Index last = end;
    if (i + 1 != sizes.size())
      last = b.add(row, b.mul(b.div(b.sub(end, row), size), size));
    forEach(b, row, last, size,
            [&, size = size](Value at) { body(size, Index(at)); });
    row = last;
  }
}

void RowTiling::cutEvenly(IndexBuilder &b, int64_t rows, int64_t most,
                          Index first, Index end,
                          function_ref<void(int64_t, Index, Index)> body) {
  int64_t tiles = llvm::divideCeil(rows, most);
  int64_t size = rows / tiles, higher = rows % tiles;
  auto emit = [&](Index begin, Index end, int64_t size, int64_t before) {
    forEach(b, begin, end, 1, [&](Value number) {
      body(size, b.add(b.mul(Index(number), size), before), Index(number));
    });
  };
  if (higher != 0)
    emit(first, b.min(end, higher), size + 1, 0);
  emit(b.max(first, higher), end, size, higher);
}
