//===- RunHeap.cpp - memory of dynamic tensors ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/RunHeap.h"

#include "runtime/core/Memory.h"

#include <algorithm>
#include <sched.h>

using namespace ingot::rt;

/// Unit of the sizes of blocks and of their headers.
static constexpr uint64_t kUnit = INGOT_ABI_ALIGNMENT;
/// Least size of a region. The size is large enough for several small tensors
/// to share a region.
static constexpr uint64_t kLeastRegion = 64 << 10;
/// Largest alignment of a region.
static constexpr uint64_t kMostAligned = 64 << 10;

/// A block of a region: this header, and the memory behind it. A block points
/// to its neighbors. Two neighbors are never both free. Free blocks are also in
/// a list, ordered by address. The list is short: even a run with hundreds of
/// small tensors has few holes.
struct alignas(kUnit) RunHeap::Block {
  uint64_t bytes; ///< bytes behind the header
  Block *before, *after;
  Region *region;
  Block *freeBefore, *freeAfter;
  bool isUsed;

  char *memory() { return reinterpret_cast<char *>(this + 1); }
  char *end() { return memory() + bytes; }

  void cut(uint64_t count);
  void takeInNext();
  void use();
  void setFree();
  void linkBehind(Block *free);
  void unlink();
};

struct alignas(kUnit) RunHeap::Region {
  Region *next;
  uint64_t bytes;   ///< bytes of all blocks with their headers
  uint64_t high;    ///< most bytes in use so far
  Block *firstFree; ///< free block with the lowest address

  Block *first() { return reinterpret_cast<Block *>(this + 1); }
  void clear() {
    *first() = {bytes - sizeof(Block), nullptr, nullptr, this, nullptr,
                nullptr, false};
    firstFree = first();
    high = 0;
  }
};

/// Inserts this block into the list of free blocks: behind `free`, or first if
/// `free` is null.
void RunHeap::Block::linkBehind(Block *free) {
  Block *&link = free ? free->freeAfter : region->firstFree;
  freeBefore = free;
  freeAfter = link;
  if (freeAfter)
    freeAfter->freeBefore = this;
  link = this;
}

void RunHeap::Block::unlink() {
  (freeBefore ? freeBefore->freeAfter : region->firstFree) = freeAfter;
  if (freeAfter)
    freeAfter->freeBefore = freeBefore;
}

/// Splits a free block behind its first `count` bytes, if another block fits
/// there.
void RunHeap::Block::cut(uint64_t count) {
  if (bytes < count + sizeof(Block))
    return;
  auto *rest = reinterpret_cast<Block *>(memory() + count);
  *rest = {bytes - count - sizeof(Block), this,    after, region,
           nullptr,                       nullptr, false};
  rest->linkBehind(this);
  if (after)
    after->before = rest;
  after = rest;
  bytes = count;
}

void RunHeap::Block::takeInNext() {
  bytes += sizeof(Block) + after->bytes;
  after = after->after;
  if (after)
    after->before = this;
}

void RunHeap::Block::use() {
  unlink();
  isUsed = true;
}

void RunHeap::Block::setFree() {
  isUsed = false;
  bool joinsBefore = before && !before->isUsed;
  bool joinsAfter = after && !after->isUsed;
  Block *lower = joinsBefore ? before : nullptr;
  if (joinsAfter) {
    if (!joinsBefore)
      lower = after->freeBefore;
    after->unlink();
    takeInNext();
  }
  if (joinsBefore)
    return before->takeInNext();
  if (!joinsAfter)
    for (Block *free = region->firstFree; free && free < this;
         free = free->freeAfter)
      lower = free;
  linkBehind(lower);
}

namespace {
/// Holds a spin lock. The lock is nearly always free, and is held very briefly.
struct Locked {
  explicit Locked(std::atomic<bool> &flag) : flag(flag) {
    while (flag.exchange(true, std::memory_order_acquire))
      sched_yield();
  }
  ~Locked() { flag.store(false, std::memory_order_release); }
  std::atomic<bool> &flag;
};
} // namespace

/// Aligns a pointer without a division, because a division would double the
/// time of this function. `alignment` is a power of two.
static char *alignUp(char *pointer, uint64_t alignment) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  return pointer + (-address & (alignment - 1));
}

void *RunHeap::allocateIn(Region &region, uint64_t bytes, uint64_t alignment) {
  for (Block *block = region.firstFree; block; block = block->freeAfter) {
    char *memory = alignUp(block->memory(), alignment);
    uint64_t front = uint64_t(memory - block->memory());
    if (front > block->bytes || block->bytes - front < bytes)
      continue;
    // The gap is a multiple of the unit, so it has room for a header of one
    // unit.
    if (front != 0) {
      block->cut(front - sizeof(Block));
      block = block->after;
    }
    block->cut(bytes);
    block->use();
    char *begin = reinterpret_cast<char *>(region.first());
    region.high = std::max(region.high, uint64_t(block->end() - begin));
    return block->memory();
  }
  return nullptr;
}

RunHeap::Region *RunHeap::addRegion(uint64_t bytes) {
  void *memory = allocator.allocate(allocator.user, sizeof(Region) + bytes,
                                    regionAlignment);
  if (!memory)
    return nullptr;
  auto *region = static_cast<Region *>(memory);
  *region = {nullptr, bytes, 0, nullptr};
  region->clear();
  // Append the region, so that the oldest region stays first. The oldest region
  // is the largest and holds most of a run's memory.
  Region **last = &regions;
  while (*last)
    last = &(*last)->next;
  return *last = region;
}

uint64_t RunHeap::totalBytes() const {
  uint64_t total = 0;
  for (Region *region = regions; region; region = region->next)
    total += region->bytes;
  return total;
}

/// Returns the bytes that a piece takes without its header. A piece of 0 bytes
/// also needs an address of its own.
static uint64_t roundUp(uint64_t bytes) {
  return std::max((bytes + kUnit - 1) / kUnit, uint64_t(1)) * kUnit;
}

uint64_t RunHeap::pieceBytes(uint64_t bytes) {
  return sizeof(Block) + roundUp(bytes);
}

uint64_t RunHeap::regionBytes(uint64_t used) {
  return sizeof(Region) + std::max(used, kLeastRegion);
}

void *RunHeap::allocate(uint64_t bytes, uint64_t alignment) {
  constexpr uint64_t most = uint64_t(1) << 62;
  alignment = std::max(alignment, kUnit);
  if (bytes > most || alignment > most || (alignment & (alignment - 1)))
    return nullptr;
  bytes = roundUp(bytes);
  Locked guard(lock);
  if (alignment <= kMostAligned) {
    slack += alignment - kUnit;
    regionAlignment = std::max(regionAlignment, alignment);
  }
  for (Region *region = regions; region; region = region->next)
    if (void *memory = allocateIn(*region, bytes, alignment))
      return memory;
  uint64_t wanted = sizeof(Block) + bytes + (alignment - kUnit);
  uint64_t more = totalBytes() / 8 / kUnit * kUnit;
  Region *region =
      addRegion(std::max({wanted, leastBytes, kLeastRegion, more}));
  // If the extra size is not available, tries a smaller region.
  if (!region)
    region = addRegion(wanted);
  return region ? allocateIn(*region, bytes, alignment) : nullptr;
}

void RunHeap::release(void *pointer) {
  if (!pointer)
    return;
  Locked guard(lock);
  (static_cast<Block *>(pointer) - 1)->setFree();
}

void RunHeap::releaseRegions() {
  while (Region *region = regions) {
    regions = region->next;
    allocator.release(allocator.user, region);
  }
}

void RunHeap::endRun() {
  Locked guard(lock);
  if (!regions)
    return;
  uint64_t need = slack;
  slack = 0;
  for (Region *region = regions; region; region = region->next) {
    need += region->high;
    region->clear();
  }
  needed[next] = need;
  next = (next + 1) % kRuns;
  ++numRuns;
  uint64_t mostNeeded = *std::max_element(needed, needed + kRuns);
  bool isScattered = regions->next != nullptr;
  bool isIdle = numRuns >= kRuns && totalBytes() > kLeastRegion &&
                totalBytes() / 2 > mostNeeded;
  if (!isScattered && !isIdle)
    return;
  releaseRegions();
  leastBytes = std::max(mostNeeded, kLeastRegion);
  numRuns = 0;
  // Allocates the region now, so that the next run allocates nothing. If memory
  // is exhausted, the next run reports that.
  addRegion(leastBytes);
}

void RunHeap::releaseAll() {
  Locked guard(lock);
  releaseRegions();
  leastBytes = 0;
  numRuns = 0;
}
