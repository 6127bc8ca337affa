//===- Memory.h - memory that remembers its accesses ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory with shadow cells. A cell records the last writer and the last readers
// of some bytes, and if the bytes are defined. Neighboring bytes share a cell
// as long as all accesses to them are as wide as the cell. A narrower access
// splits the cells of its page.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_MEMORY_H
#define INGOT_TOOLS_EMUGPU_MEMORY_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace emugpu {

/// All accesses of a warp, a copy or the host between two synchronizations.
/// Later segments have higher numbers; 0 means no access.
using Segment = uint32_t;

/// The last accesses to a few bytes.
struct Cell {
  Segment writer = 0, reader = 0;
  /// The number of the set of readers, if there are several unordered readers.
  uint32_t readers = 0;
  uint8_t writeLane = 0, readLane = 0;
  /// True once the bytes were written.
  bool isDefined = false;
  /// True until an asynchronous copy to the bytes is complete.
  bool isInFlight = false;
  /// True if the last write was atomic.
  bool isAtomic = false;
  /// True if other cells may have the same set of readers, because they were
  /// one cell. Such a set must not change.
  bool sharesReaders = false;
};

/// A range of memory and its shadow cells.
class Memory {
public:
  static constexpr unsigned kPage = 4096, kWidest = 16;

  explicit Memory(uint64_t bytes);

  uint8_t *data() { return bytes.get(); }
  uint64_t size() const { return numBytes; }

  /// Calls `visit` with each cell of a range inside of the memory. First splits
  /// cells that extend beyond the range.
  template <typename Visit>
  void forEachCell(uint64_t offset, uint64_t count, Visit visit) {
    for (uint64_t at = offset; at < offset + count;) {
      Page &page = pages[at / kPage];
      const uint64_t inPage = at % kPage;
      const uint64_t end =
          std::min<uint64_t>(kPage, inPage + (offset + count - at));
      const unsigned width = 1u << page.shift;
      if ((inPage | end) & (width - 1))
        split(page, inPage | end);
      if (page.cells.empty())
        page.cells.resize(kPage >> page.shift);
      for (uint64_t i = inPage >> page.shift; i < end >> page.shift; ++i)
        visit(page.cells[i]);
      at += end - inPage;
    }
  }

  /// Returns the cells of an aligned access of 1 to 16 bytes inside of the
  /// memory. Returns null if cells must be made or split first.
  Cell *findCells(uint64_t offset, unsigned count, unsigned &numCells) {
    Page &page = pages[offset / kPage];
    if (page.cells.empty() || count < 1u << page.shift)
      return nullptr;
    numCells = count >> page.shift;
    return &page.cells[offset % kPage >> page.shift];
  }

  /// Makes all bytes undefined again and fills them with NaN.
  void reset();

private:
  struct Page {
    std::vector<Cell> cells;
    /// The binary logarithm of a cell's size in bytes.
    uint8_t shift = 4;
  };
  static void split(Page &page, uint64_t positions);

  std::unique_ptr<uint8_t[]> bytes;
  uint64_t numBytes;
  std::vector<Page> pages;
};

/// An allocation of device memory.
struct Allocation {
  uint64_t address;
  std::unique_ptr<Memory> memory;
  /// True for constant memory, which kernels must not write.
  bool isConstant = false;
};

/// The memory of the emulated device. Device addresses differ from host
/// addresses, so that a host pointer in device code, or the reverse, is always
/// detected.
class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t capacity) : capacity(capacity) {}

  /// Returns the address of new memory, or 0 if there is not enough memory.
  /// Addresses are not reused after a release.
  uint64_t allocate(uint64_t bytes, bool isConstant = false);
  /// Returns false if `address` is not the start of an allocation.
  bool release(uint64_t address);
  /// Returns the allocation that contains the whole range, or null.
  Allocation *find(uint64_t address, uint64_t bytes);

  uint64_t total() const { return capacity; }
  uint64_t used() const { return usedBytes; }
  size_t count() const { return allocations.size(); }

private:
  static constexpr uint64_t kFirst = uint64_t(0x7b) << 40;
  uint64_t capacity, usedBytes = 0, next = kFirst;
  std::map<uint64_t, Allocation> allocations;
  Allocation *last = nullptr;
};

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_MEMORY_H
