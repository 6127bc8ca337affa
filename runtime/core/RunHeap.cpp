//===- RunHeap.cpp - memory of tensors of open size -----------------------===//
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

/// Blocks and their headers are multiples of it.
static constexpr uint64_t kUnit = INGOT_ABI_ALIGNMENT;
/// A region of its own for each small tensor would be many of them.
static constexpr uint64_t kLeastRegion = 64 << 10;
/// Regions are not aligned more strictly, whatever a piece asks for.
static constexpr uint64_t kMostAligned = 64 << 10;

/// A piece of a region, free or not: this header, then memory. Neighbours know
/// each other; no two of them are both free. What is free is in a list, too, in
/// the order of addresses: the lowest that has room is looked for among few, as
/// a run that keeps hundreds of small tensors has few holes.
struct alignas(kUnit) RunHeap::Block {
  uint64_t bytes; ///< behind the header
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
  uint64_t bytes;   ///< of all blocks, with their headers
  uint64_t high;    ///< how many of them were used at most
  Block *firstFree; ///< the lowest

  Block *first() { return reinterpret_cast<Block *>(this + 1); }
  void clear() {
    *first() = {bytes - sizeof(Block), nullptr, nullptr, this, nullptr,
                nullptr, false};
    firstFree = first();
    high = 0;
  }
};

/// Into the list of what is free, behind `free` or as the first.
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

/// What is behind the first `count` bytes of a free block becomes another one,
/// if there is room for it.
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
/// Nearly always free, and held for as long as a mutex takes to be locked.
struct Locked {
  explicit Locked(std::atomic<bool> &flag) : flag(flag) {
    while (flag.exchange(true, std::memory_order_acquire))
      sched_yield();
  }
  ~Locked() { flag.store(false, std::memory_order_release); }
  std::atomic<bool> &flag;
};
} // namespace

/// `alignment` is a power of two: a division takes as long as all else here.
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
    // Units are what a header takes, so what is in front holds one.
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
  // The oldest is the largest, and has most of what a run needs.
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

/// A piece's bytes without its header; 0 bytes have a place of their own, too.
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
  // What more than this would have been good for can wait.
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
  // Now, so that the next run allocates nothing. If there is no memory, the run
  // will say so.
  addRegion(leastBytes);
}

void RunHeap::releaseAll() {
  Locked guard(lock);
  releaseRegions();
  leastBytes = 0;
  numRuns = 0;
}
