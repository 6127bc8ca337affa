//===- Heap.cpp - memory of the GPU for buffers of open size --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Heap.h"

#include "runtime/cuda/State.h"

#include <stdlib.h>

using namespace ingot::cuda;

/// Alignment of pieces, which cuMemAlloc has, too.
static constexpr uint64_t kUnit = 256;
/// The least bytes of a region.
static constexpr uint64_t kLeastRegion = 1 << 20;
/// The most bytes of all regions, whose places are addresses of a tensor.
static constexpr uint64_t kMostBytes = uint64_t(1) << tensorShift;

static uint64_t roundUp(uint64_t bytes) {
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

static Heap::Piece *makePiece(uint64_t place, uint64_t bytes,
                              Heap::Piece *next) {
  auto *piece = static_cast<Heap::Piece *>(malloc(sizeof(Heap::Piece)));
  if (piece)
    *piece = {place, bytes, false, next};
  return piece;
}

uint64_t Heap::totalBytes() const {
  uint64_t total = 0;
  for (Region *region = regions; region; region = region->next)
    total += region->bytes;
  return total;
}

Heap::Region *Heap::addRegion(Driver &driver, uint64_t bytes, Result &result) {
  const uint64_t start = totalBytes();
  result = outOfMemory;
  if (bytes > kMostBytes - start)
    return nullptr;
  auto *region = static_cast<Region *>(calloc(1, sizeof(Region)));
  Piece *piece = makePiece(start, bytes, nullptr);
  if (region && piece)
    result = driver.cuMemAlloc_v2(&region->address, bytes);
  if (result) {
    free(region);
    free(piece);
    return nullptr;
  }
  region->start = start;
  region->bytes = bytes;
  region->pieces = piece;
  region->next = regions;
  ++version;
  return regions = region;
}

/// Takes the first `bytes` of a free piece. Without memory for the description
/// of the rest, it takes all.
static void cut(Heap::Piece *piece, uint64_t bytes) {
  if (piece->bytes > bytes)
    if (Heap::Piece *rest = makePiece(piece->place + bytes,
                                      piece->bytes - bytes, piece->next)) {
      piece->next = rest;
      piece->bytes = bytes;
    }
  piece->isUsed = true;
}

Result Heap::allocate(Driver &driver, uint64_t bytes, uint64_t &place) {
  if (bytes > kMostBytes)
    return outOfMemory;
  bytes = bytes ? roundUp(bytes) : kUnit;
  Piece *found = nullptr;
  Region *within = nullptr;
  for (Region *region = regions; region && !found; region = region->next)
    for (Piece *piece = region->pieces; piece && !found; piece = piece->next)
      if (!piece->isUsed && piece->bytes >= bytes) {
        found = piece;
        within = region;
      }
  if (!found) {
    const uint64_t more = totalBytes() / 4 / kUnit * kUnit;
    uint64_t wanted = bytes < more ? more : bytes;
    if (wanted < kLeastRegion)
      wanted = kLeastRegion;
    Result result;
    Region *region = addRegion(driver, wanted, result);
    // The extra size may not be available.
    if (!region && wanted > bytes)
      region = addRegion(driver, bytes, result);
    if (!region)
      return result;
    found = region->pieces;
    within = region;
  }
  cut(found, bytes);
  const uint64_t end = found->place + found->bytes - within->start;
  within->high = within->high < end ? end : within->high;
  place = found->place;
  return success;
}

/// Joins free neighbors.
static void join(Heap::Piece *first) {
  for (Heap::Piece *piece = first; piece && piece->next;) {
    Heap::Piece *next = piece->next;
    if (piece->isUsed || next->isUsed) {
      piece = next;
      continue;
    }
    piece->bytes += next->bytes;
    piece->next = next->next;
    free(next);
  }
}

bool Heap::release(uint64_t place) {
  for (Region *region = regions; region; region = region->next) {
    if (!region->has(place))
      continue;
    for (Piece *piece = region->pieces; piece; piece = piece->next)
      if (piece->place == place && piece->isUsed) {
        piece->isUsed = false;
        join(region->pieces);
        return true;
      }
  }
  return false;
}

Result Heap::reserve(Driver &driver, uint64_t bytes) {
  if (!bytes)
    return success;
  if (!regions || regions->next || regions->bytes < bytes) {
    releaseAll(&driver);
    Result result;
    if (!addRegion(driver, roundUp(bytes), result))
      return result;
  }
  regions->high = bytes;
  return success;
}

DevicePointer Heap::addressOf(uint64_t place) const {
  for (Region *region = regions; region; region = region->next)
    if (region->has(place))
      return region->address + (place - region->start);
  return 0;
}

uint64_t Heap::usedBytes() const {
  uint64_t used = 0;
  for (Region *region = regions; region; region = region->next)
    if (region->high && used < region->start + region->high)
      used = region->start + region->high;
  return used;
}

Result Heap::shadow(Driver &driver, uint64_t place, void *&host) {
  for (Region *region = regions; region; region = region->next) {
    if (!region->has(place))
      continue;
    if (!region->shadow)
      if (Result result =
              driver.cuMemHostAlloc(&region->shadow, region->bytes, 0))
        return result;
    host = static_cast<char *>(region->shadow) + (place - region->start);
    return success;
  }
  return success;
}

void Heap::endRun(Driver &driver) {
  if (!regions)
    return;
  const uint64_t need = usedBytes();
  for (Region *region = regions; region; region = region->next) {
    for (Piece *piece = region->pieces; piece; piece = piece->next)
      piece->isUsed = false;
    join(region->pieces);
    region->high = 0;
  }
  needed[next] = need;
  next = (next + 1) % kRuns;
  ++numRuns;
  uint64_t most = kLeastRegion;
  for (uint64_t each : needed)
    most = most < each ? each : most;
  const bool isIdle = numRuns >= kRuns && totalBytes() / 2 > most;
  if (!regions->next && !isIdle)
    return;
  releaseAll(&driver);
  numRuns = 0;
  // If memory is exhausted, the next run reports that.
  Result result;
  addRegion(driver, most, result);
}

void Heap::releaseAll(Driver *driver) {
  ++version;
  while (Region *region = regions) {
    regions = region->next;
    while (Piece *piece = region->pieces) {
      region->pieces = piece->next;
      free(piece);
    }
    if (driver && region->shadow)
      driver->cuMemFreeHost(region->shadow);
    if (driver)
      driver->cuMemFree_v2(region->address);
    free(region);
  }
}
