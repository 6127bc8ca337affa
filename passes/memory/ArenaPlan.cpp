//===- ArenaPlan.cpp - offsets of buffers in one arena --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ArenaPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>
#include <map>
#include <numeric>
#include <set>

using namespace mlir;
using namespace ingot;

static int64_t padded(const ArenaBuffer &buffer) {
  return llvm::alignTo(std::max<int64_t>(buffer.bytes, 1), kAlignment);
}

/// Returns the indices of the buffers, sorted by the start of their lifetimes.
static SmallVector<unsigned> byStart(ArrayRef<ArenaBuffer> buffers) {
  SmallVector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return buffers[a].first < buffers[b].first;
  });
  return order;
}

/// Calls `met(a, b)` for each pair of buffers with overlapping lifetimes. Stops
/// and returns false when `met` returns false.
template <typename Met>
static bool forEachMeeting(ArrayRef<ArenaBuffer> buffers, Met met) {
  SmallVector<unsigned> live;
  for (unsigned next : byStart(buffers)) {
    llvm::erase_if(live, [&](unsigned other) {
      return buffers[other].last < buffers[next].first;
    });
    for (unsigned other : live)
      if (!met(other, next))
        return false;
    live.push_back(next);
  }
  return true;
}

namespace {

/// For each buffer, the list of buffers whose lifetimes overlap with its own.
class Neighbours {
public:
  /// Fills the lists. Returns false if there are too many pairs.
  bool find(ArrayRef<ArenaBuffer> buffers);
  ArrayRef<unsigned> of(unsigned buffer) const { return lists[buffer]; }

  size_t meetings = 0;

private:
  std::vector<SmallVector<unsigned, 4>> lists;
};

/// Free ranges of memory below `top`, for allocation in the order of time.
class FreeList {
public:
  /// Takes the smallest free range that holds `size`. Extends the arena if
  /// there is none.
  int64_t take(int64_t size);
  void give(int64_t offset, int64_t size);
  int64_t most() const { return highest; }

private:
  void insert(int64_t offset, int64_t size);
  void erase(std::map<int64_t, int64_t>::iterator at);

  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t top = 0, highest = 0;
};

} // namespace

/// Limit of pairs with overlapping lifetimes. Above it, only the order by start
/// is tried, which does not need the pairs.
static constexpr size_t kMaxMeetings = 4'000'000;

/// Limits for improving a plan that is larger than the lower bound. `kRounds`
/// limits the attempts, `kMaxRevisited` limits the pairs that all attempts
/// visit together.
static constexpr size_t kRounds = 32, kMaxRevisited = 1'000'000;

bool Neighbours::find(ArrayRef<ArenaBuffer> buffers) {
  lists.resize(buffers.size());
  return forEachMeeting(buffers, [&](unsigned a, unsigned b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
    return ++meetings <= kMaxMeetings;
  });
}

void FreeList::insert(int64_t offset, int64_t size) {
  byOffset[offset] = size;
  bySize.insert({size, offset});
}

void FreeList::erase(std::map<int64_t, int64_t>::iterator at) {
  bySize.erase({at->second, at->first});
  byOffset.erase(at);
}

int64_t FreeList::take(int64_t size) {
  assert(size >= 0 && "sizes are counted before");
  auto fit = bySize.lower_bound({size, 0});
  if (fit == bySize.end()) {
    int64_t offset = top;
    top += size;
    highest = std::max(highest, top);
    return offset;
  }
  auto [room, offset] = *fit;
  erase(byOffset.find(offset));
  if (room > size)
    insert(offset + size, room - size);
  return offset;
}

void FreeList::give(int64_t offset, int64_t size) {
  auto next = byOffset.lower_bound(offset);
  if (next != byOffset.end() && next->first == offset + size) {
    size += next->second;
    erase(next++);
  }
  if (next != byOffset.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      erase(before);
    }
  }
  if (offset + size == top)
    top = offset;
  else
    insert(offset, size);
}

/// Assigns offsets in the order of time. Each buffer gets the smallest gap
/// between the buffers that are live when its lifetime starts.
static int64_t placeInTime(MutableArrayRef<ArenaBuffer> buffers) {
  FreeList memory;
  std::multimap<int64_t, unsigned> ends;
  for (unsigned index : byStart(buffers)) {
    ArenaBuffer &buffer = buffers[index];
    while (!ends.empty() && ends.begin()->first < buffer.first) {
      const ArenaBuffer &dead = buffers[ends.begin()->second];
      memory.give(dead.offset, padded(dead));
      ends.erase(ends.begin());
    }
    buffer.offset = memory.take(padded(buffer));
    ends.insert({buffer.last, index});
  }
  return memory.most();
}

/// Assigns offsets in the given order. Each buffer gets the smallest sufficient
/// gap between the buffers that are live with it, or a place above them.
static int64_t place(MutableArrayRef<ArenaBuffer> buffers,
                     const Neighbours &neighbours, ArrayRef<unsigned> order) {
  std::vector<bool> isPlaced(buffers.size());
  int64_t arena = 0;
  SmallVector<unsigned> live;
  for (unsigned index : order) {
    ArenaBuffer &buffer = buffers[index];
    live.clear();
    llvm::copy_if(neighbours.of(index), std::back_inserter(live),
                  [&](unsigned other) { return isPlaced[other]; });
    llvm::sort(live, [&](unsigned a, unsigned b) {
      return buffers[a].offset < buffers[b].offset;
    });
    int64_t size = padded(buffer), top = 0;
    int64_t best = -1, bestGap = std::numeric_limits<int64_t>::max();
    for (unsigned other : live) {
      int64_t gap = buffers[other].offset - top;
      if (gap >= size && gap < bestGap) {
        best = top;
        bestGap = gap;
      }
      top = std::max(top, buffers[other].offset + padded(buffers[other]));
    }
    buffer.offset = best < 0 ? top : best;
    arena = std::max(arena, buffer.offset + size);
    isPlaced[index] = true;
  }
  return arena;
}

int64_t ingot::assignOffsets(MutableArrayRef<ArenaBuffer> buffers) {
  assert(llvm::all_of(buffers,
                      [](const ArenaBuffer &buffer) {
                        return buffer.bytes >= 0 && buffer.first <= buffer.last;
                      }) &&
         "a buffer without an extent or a lifetime");
  int64_t best = placeInTime(buffers);
  Neighbours neighbours;
  if (!neighbours.find(buffers))
    return best;
  SmallVector<unsigned> order = byStart(buffers);
  auto area = [&](unsigned i) {
    return (buffers[i].last - buffers[i].first) * padded(buffers[i]);
  };
  SmallVector<int64_t> offsets;
  auto keep = [&] {
    offsets = llvm::map_to_vector(
        buffers, [](const ArenaBuffer &buffer) { return buffer.offset; });
  };
  keep();
  auto attempt = [&] {
    int64_t arena = place(buffers, neighbours, order);
    if (arena < best) {
      best = arena;
      keep();
    }
  };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return padded(buffers[a]) > padded(buffers[b]);
  });
  attempt();
  llvm::stable_sort(order,
                    [&](unsigned a, unsigned b) { return area(a) > area(b); });
  attempt();
  // Place the topmost buffer first in the next attempt.
  int64_t least = lowerBound(buffers);
  size_t rounds = std::min(
      kRounds, kMaxRevisited / (neighbours.meetings + buffers.size() + 1));
  for (size_t round = 0; round < rounds && best > least; ++round) {
    auto top = llvm::max_element(order, [&](unsigned a, unsigned b) {
      return buffers[a].offset + padded(buffers[a]) <
             buffers[b].offset + padded(buffers[b]);
    });
    std::rotate(order.begin(), top, std::next(top));
    attempt();
  }
  for (auto [buffer, offset] : llvm::zip_equal(buffers, offsets))
    buffer.offset = offset;
  assert(succeeded(verifyOffsets(buffers)) && "two live buffers overlap");
  return best;
}

int64_t ingot::lowerBound(ArrayRef<ArenaBuffer> buffers) {
  SmallVector<std::pair<int64_t, int64_t>> changes;
  for (const ArenaBuffer &buffer : buffers) {
    changes.push_back({buffer.first, buffer.bytes});
    changes.push_back({buffer.last + 1, -buffer.bytes});
  }
  llvm::sort(changes); // At one position, ends come before starts.
  int64_t live = 0, most = 0;
  for (auto [at, bytes] : changes) {
    live += bytes;
    most = std::max(most, live);
  }
  return most;
}

LogicalResult ingot::verifyOffsets(ArrayRef<ArenaBuffer> buffers) {
  // Live buffers by offset. A new buffer can only overlap its two neighbours.
  std::map<int64_t, unsigned> live;
  std::multimap<int64_t, unsigned> ends;
  for (unsigned index : byStart(buffers)) {
    const ArenaBuffer &buffer = buffers[index];
    if (buffer.bytes <= 0)
      continue;
    while (!ends.empty() && ends.begin()->first < buffer.first) {
      live.erase(buffers[ends.begin()->second].offset);
      ends.erase(ends.begin());
    }
    auto above = live.lower_bound(buffer.offset);
    if (above != live.end() && above->first < buffer.offset + buffer.bytes)
      return failure();
    if (above != live.begin()) {
      const ArenaBuffer &below = buffers[std::prev(above)->second];
      if (below.offset + below.bytes > buffer.offset)
        return failure();
    }
    live[buffer.offset] = index;
    ends.insert({buffer.last, index});
  }
  return success();
}
