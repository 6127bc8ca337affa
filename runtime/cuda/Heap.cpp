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
/// The most bytes of a piece: addresses of GPUs have 49 bits or less.
static constexpr uint64_t kMostBytes = uint64_t(1) << 49;

static Heap::Piece *makePiece(DevicePointer address, uint64_t bytes,
                              Heap::Piece *next) {
  auto *piece = static_cast<Heap::Piece *>(malloc(sizeof(Heap::Piece)));
  if (piece)
    *piece = {address, bytes, false, next};
  return piece;
}

uint64_t Heap::totalBytes() const {
  uint64_t total = 0;
  for (Region *region = regions; region; region = region->next)
    total += region->bytes;
  return total;
}

Heap::Region *Heap::addRegion(Driver &driver, uint64_t bytes, Result &result) {
  auto *region = static_cast<Region *>(calloc(1, sizeof(Region)));
  Piece *piece = makePiece(0, bytes, nullptr);
  result = outOfMemory;
  if (region && piece)
    result = driver.cuMemAlloc_v2(&region->address, bytes);
  if (result) {
    free(region);
    free(piece);
    return nullptr;
  }
  piece->address = region->address;
  region->bytes = bytes;
  region->pieces = piece;
  region->next = regions;
  return regions = region;
}

/// Takes the first `bytes` of a free piece. Without memory for the description
/// of the rest, it takes all.
static void cut(Heap::Piece *piece, uint64_t bytes) {
  if (piece->bytes > bytes)
    if (Heap::Piece *rest = makePiece(piece->address + bytes,
                                      piece->bytes - bytes, piece->next)) {
      piece->next = rest;
      piece->bytes = bytes;
    }
  piece->isUsed = true;
}

Result Heap::allocate(Driver &driver, uint64_t bytes, DevicePointer &address) {
  if (bytes > kMostBytes)
    return outOfMemory;
  bytes = bytes ? (bytes + kUnit - 1) / kUnit * kUnit : kUnit;
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
  const uint64_t end = found->address + found->bytes - within->address;
  within->high = within->high < end ? end : within->high;
  address = found->address;
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

bool Heap::release(DevicePointer address) {
  for (Region *region = regions; region; region = region->next) {
    if (address - region->address >= region->bytes)
      continue;
    for (Piece *piece = region->pieces; piece; piece = piece->next)
      if (piece->address == address && piece->isUsed) {
        piece->isUsed = false;
        join(region->pieces);
        return true;
      }
  }
  return false;
}

Result Heap::shadow(Driver &driver, DevicePointer address, void *&host) {
  for (Region *region = regions; region; region = region->next) {
    const uint64_t offset = address - region->address;
    if (offset >= region->bytes)
      continue;
    if (!region->shadow)
      if (Result result =
              driver.cuMemHostAlloc(&region->shadow, region->bytes, 0))
        return result;
    host = static_cast<char *>(region->shadow) + offset;
    return success;
  }
  return success;
}

void Heap::endRun(Driver &driver) {
  if (!regions)
    return;
  uint64_t need = 0;
  for (Region *region = regions; region; region = region->next) {
    for (Piece *piece = region->pieces; piece; piece = piece->next)
      piece->isUsed = false;
    join(region->pieces);
    need += region->high;
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
