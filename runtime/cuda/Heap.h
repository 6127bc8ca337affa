//===- Heap.h - memory of the GPU for buffers of open size ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_HEAP_H
#define INGOT_RUNTIME_CUDA_HEAP_H

#include "runtime/cuda/DriverApi.h"

#include <stdint.h>

namespace ingot::cuda {

struct Driver;

/// GPU memory that a run allocates in pieces. The descriptions of pieces are in
/// host memory, because the host cannot read the GPU's. Each piece has the
/// lowest place with enough room.
///
/// A place is an offset in all regions, one behind the other. If a run needed
/// several regions, the next run gets one region of their total size. So a
/// place stays valid for later runs, and only the address behind it changes.
/// Runs of equal sizes allocate nothing. Regions that stay half empty for
/// several runs are returned to the driver.
///
/// All work of a run is in one stream. So memory that is released can be given
/// to a later piece before earlier work has ended.
struct Heap {
  /// Gives memory for a piece. Pieces of no bytes have a place, too.
  Result allocate(Driver &driver, uint64_t bytes, uint64_t &place);
  /// Releases a piece. Returns false if `place` is that of no piece.
  bool release(uint64_t place);
  /// Gives memory for the first `bytes` places, before a run that allocates no
  /// pieces.
  Result reserve(Driver &driver, uint64_t bytes);
  /// Returns the address of a place, or 0 if there is no memory for it.
  DevicePointer addressOf(uint64_t place) const;
  /// Returns the number of places up to the last one that this run has used.
  uint64_t usedBytes() const;
  /// Gives the host memory for copies of the bytes at `place`, or null if no
  /// region has them.
  Result shadow(Driver &driver, uint64_t place, void *&host);
  /// Releases all pieces. Their work has ended.
  void endRun(Driver &driver);
  /// Releases all memory. After a fork, GPU memory belongs to the other
  /// process, and `driver` is null.
  void releaseAll(Driver *driver);

  /// Neighboring bytes of a region. Free neighbors are joined.
  struct Piece {
    uint64_t place;
    uint64_t bytes;
    bool isUsed;
    Piece *next;
  };
  struct Region {
    DevicePointer address;
    /// The first place of the region, and the number of places.
    uint64_t start, bytes;
    /// The most bytes from the start that this run has used.
    uint64_t high;
    /// Host memory for copies; null until it is needed.
    void *shadow;
    Piece *pieces;
    Region *next;

    bool has(uint64_t place) const { return place - start < bytes; }
  };

  Region *addRegion(Driver &driver, uint64_t bytes, Result &result);
  uint64_t totalBytes() const;

  /// The number of recent runs that determine the size of the next region.
  static constexpr uint32_t kRuns = 8;

  Region *regions;
  /// Increases whenever the addresses of places change.
  uint64_t version;
  /// Bytes that recent runs needed, the index of the next entry, and the number
  /// of runs since the last region was made for them.
  uint64_t needed[kRuns];
  uint32_t next, numRuns;
};

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_HEAP_H
