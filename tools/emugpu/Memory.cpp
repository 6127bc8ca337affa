//===- Memory.cpp - memory that remembers its accesses --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Memory.h"

#include <algorithm>
#include <cstring>

using namespace emugpu;

/// A byte that makes every float type a NaN.
static constexpr uint8_t kNaN = 0xff;

Memory::Memory(uint64_t count)
    : bytes(new uint8_t[count + kWidest]), numBytes(count),
      pages((count + kPage - 1) / kPage) {
  memset(bytes.get(), kNaN, count + kWidest);
}

void Memory::reset() {
  memset(bytes.get(), kNaN, numBytes);
  for (Page &page : pages)
    std::fill(page.cells.begin(), page.cells.end(), Cell());
}

/// Narrows the cells of a page until an access begins and ends at edges of
/// cells. `positions` is the bitwise OR of its begin and its end.
void Memory::split(Page &page, uint64_t positions) {
  uint8_t shift = page.shift;
  while (positions & ((uint64_t(1) << shift) - 1))
    --shift;
  if (!page.cells.empty()) {
    std::vector<Cell> cells(kPage >> shift);
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] = page.cells[i >> (page.shift - shift)];
      cells[i].sharesReaders = cells[i].readers != 0;
    }
    page.cells = std::move(cells);
  }
  page.shift = shift;
}

uint64_t DeviceMemory::allocate(uint64_t bytes, bool isConstant) {
  if (!bytes || bytes > capacity - usedBytes)
    return 0;
  // Leave a gap, so that an access beyond the end is outside of all
  // allocations.
  const uint64_t address = next;
  next += (bytes + 511) / 512 * 512 + 512;
  usedBytes += bytes;
  Allocation made{address, std::make_unique<Memory>(bytes), isConstant};
  allocations.emplace(address, std::move(made));
  return address;
}

bool DeviceMemory::release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return false;
  usedBytes -= found->second.memory->size();
  allocations.erase(found);
  last = nullptr;
  return true;
}

Allocation *DeviceMemory::find(uint64_t address, uint64_t bytes) {
  auto holds = [&](const Allocation &allocation) {
    return address >= allocation.address &&
           address - allocation.address <= allocation.memory->size() &&
           bytes <= allocation.memory->size() - (address - allocation.address);
  };
  if (last && holds(*last))
    return last;
  auto found = allocations.upper_bound(address);
  if (found == allocations.begin())
    return nullptr;
  Allocation &allocation = std::prev(found)->second;
  if (!holds(allocation))
    return nullptr;
  return last = &allocation;
}
