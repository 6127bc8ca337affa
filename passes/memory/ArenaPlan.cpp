//===- ArenaPlan.cpp - offsets of buffers in one arena --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ArenaPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace ingot;

static constexpr int64_t kAlignment = 64;

static int64_t padded(const ArenaBuffer &buffer) {
  return llvm::alignTo(std::max<int64_t>(buffer.bytes, 1), kAlignment);
}

static bool overlapInTime(const ArenaBuffer &a, const ArenaBuffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Places the buffers in the given order, each into the smallest gap that holds
/// it between those live with it, else above them.
static int64_t place(MutableArrayRef<ArenaBuffer> buffers,
                     ArrayRef<unsigned> order) {
  SmallVector<unsigned> placed; // Sorted by offset.
  int64_t arena = 0;
  for (unsigned index : order) {
    ArenaBuffer &buffer = buffers[index];
    int64_t size = padded(buffer), top = 0;
    int64_t best = -1, bestGap = std::numeric_limits<int64_t>::max();
    for (unsigned other : placed) {
      const ArenaBuffer &live = buffers[other];
      if (!overlapInTime(buffer, live))
        continue;
      int64_t gap = live.offset - top;
      if (gap >= size && gap < bestGap) {
        best = top;
        bestGap = gap;
      }
      top = std::max(top, live.offset + padded(live));
    }
    buffer.offset = best < 0 ? top : best;
    arena = std::max(arena, buffer.offset + size);
    auto at = llvm::upper_bound(placed, buffer.offset,
                                [&](int64_t offset, unsigned other) {
                                  return offset < buffers[other].offset;
                                });
    placed.insert(at, index);
  }
  return arena;
}

int64_t ingot::assignOffsets(MutableArrayRef<ArenaBuffer> buffers) {
  SmallVector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  auto length = [&](unsigned i) { return buffers[i].last - buffers[i].first; };

  SmallVector<SmallVector<unsigned>> orders;
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return buffers[a].first < buffers[b].first;
  });
  orders.push_back(order);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return padded(buffers[a]) > padded(buffers[b]);
  });
  orders.push_back(order);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return length(a) * padded(buffers[a]) > length(b) * padded(buffers[b]);
  });
  orders.push_back(order);

  int64_t best = std::numeric_limits<int64_t>::max();
  unsigned winner = 0;
  for (auto [i, candidate] : llvm::enumerate(orders)) {
    int64_t arena = place(buffers, candidate);
    if (arena < best) {
      best = arena;
      winner = i;
    }
  }
  return place(buffers, orders[winner]);
}

int64_t ingot::lowerBound(ArrayRef<ArenaBuffer> buffers) {
  SmallVector<std::pair<int64_t, int64_t>> changes;
  for (const ArenaBuffer &buffer : buffers) {
    changes.push_back({buffer.first, buffer.bytes});
    changes.push_back({buffer.last + 1, -buffer.bytes});
  }
  llvm::sort(changes); // At one position, what ends comes first.
  int64_t live = 0, most = 0;
  for (auto [at, bytes] : changes) {
    live += bytes;
    most = std::max(most, live);
  }
  return most;
}

LogicalResult ingot::verifyOffsets(ArrayRef<ArenaBuffer> buffers) {
  for (auto [i, a] : llvm::enumerate(buffers))
    for (const ArenaBuffer &b : buffers.drop_front(i + 1))
      if (overlapInTime(a, b) && a.offset < b.offset + b.bytes &&
          b.offset < a.offset + a.bytes)
        return failure();
  return success();
}
