//===- Memory.h - memory that remembers its accesses ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory with a shadow: who wrote and who read each byte last, and what nobody
// has written yet. Neighbouring bytes share a shadow cell as long as all
// accesses to them are as wide as the cell. A narrower access splits the cells
// of its page.
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

/// Everything that a warp, a copy or the host does between two
/// synchronizations. Numbers rise; 0 stands for no access.
using Segment = uint32_t;

/// The last accesses to some bytes.
struct Cell {
  Segment writer = 0, reader = 0;
  /// The number of a set of readers, if there are several unordered ones.
  uint32_t readers = 0;
  uint8_t writeLane = 0, readLane = 0;
  /// True once the bytes were written.
  bool isDefined = false;
  /// True while an asynchronous copy writes the bytes.
  bool isInFlight = false;
  /// True if the last write was atomic.
  bool isAtomic = false;
};

/// A range of memory with its shadow.
class Memory {
public:
  static constexpr unsigned kPage = 4096, kWidest = 16;

  explicit Memory(uint64_t bytes);

  uint8_t *data() { return bytes.get(); }
  uint64_t size() const { return numBytes; }

  /// Calls `visit` with each cell of a range that lies inside the memory.
  /// Cells that extend beyond the range are split before.
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

  /// Makes all bytes undefined again, and fills them with NaN.
  void reset();

private:
  struct Page {
    std::vector<Cell> cells;
    /// The logarithm of a cell's bytes.
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
  /// True for constants, which kernels must not write.
  bool isConstant = false;
};

/// The memory of the emulated device. Addresses are not those of the host, so
/// that a pointer of the wrong side is always found.
class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t capacity) : capacity(capacity) {}

  /// Returns the address of new memory, or 0 if too little is left. Freed
  /// addresses are not used again.
  uint64_t allocate(uint64_t bytes, bool isConstant = false);
  /// Returns false if `address` is not the start of an allocation.
  bool release(uint64_t address);
  /// Returns the allocation that holds all of a range, or null.
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
