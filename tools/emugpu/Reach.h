//===- Reach.h - quick accesses of the lanes of a warp ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a warp mostly access one allocation, in cells that need no
// search for races. Such accesses are done here. All others, and all errors,
// are left to Warp::access.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_REACH_H
#define INGOT_TOOLS_EMUGPU_REACH_H

#include "tools/emugpu/Machine.h"

namespace emugpu {

__attribute__((always_inline)) inline bool Block::isBehind(Segment segment) {
  Segment &known = behind[segment % kBehind];
  if (known == segment)
    return true;
  if (segment < launch.firstSegment) {
    if (!launch.hasEnded(segment))
      return false;
  } else {
    const Launch::Owner &owner = launch.owners[segment - launch.firstSegment];
    if (owner.block != number || owner.epoch >= epoch)
      return false;
  }
  known = segment;
  return true;
}

__attribute__((always_inline)) inline bool
Block::checkQuickly(Segment segment, unsigned lane, Cell &cell, bool isWrite) {
  if (cell.isInFlight || cell.isAtomic || !(isWrite || cell.isDefined))
    return false;
  if (!(cell.writer == segment && cell.writeLane == lane) &&
      !isBehind(cell.writer))
    return false;
  const bool isReader = cell.reader == segment && cell.readLane == lane;
  if (isWrite) {
    if (cell.readers || !(isReader || isBehind(cell.reader)))
      return false;
    cell.writer = segment;
    cell.writeLane = uint8_t(lane);
    cell.isDefined = true;
    cell.reader = 0;
    return true;
  }
  if (isReader)
    return true;
  if (cell.reader >= launch.firstSegment) {
    // With this set, the last reader does not matter.
    if (cell.readers == kManyBlocks)
      return true;
    if (cell.sharesReaders)
      return false;
    if (cell.readers) {
      std::vector<Launch::Readers> &reads = launch.readers[cell.readers];
      if (cell.reader != segment || reads.back().segment != segment)
        return false;
      reads.back().lanes |= Mask(1) << lane;
    } else if (!isBehind(cell.reader)) {
      return false;
    }
  } else {
    cell.readers = 0;
    cell.sharesReaders = false;
  }
  cell.reader = segment;
  cell.readLane = uint8_t(lane);
  return true;
}

/// The memory that a lane of a warp has accessed last, in one space.
class Reach {
public:
  Reach(Warp &warp, Space space) : warp(warp), space(space) {
    if (space == Space::shared)
      memory = &warp.block.shared;
  }

  /// Accesses memory like Warp::access, faster in the usual cases.
  uint8_t *access(uint64_t address, unsigned bytes, bool isWrite, unsigned lane,
                  bool isAtomic = false) {
    const uint64_t offset = address - first;
    if (memory && !isAtomic && !(address & (bytes - 1)) &&
        offset < memory->size() && bytes <= memory->size() - offset &&
        isQuick(offset, bytes, isWrite, lane))
      return memory->data() + offset;
    uint8_t *data = warp.access(space, address, bytes, isWrite, lane, isAtomic);
    if (space == Space::global) {
      Allocation *found = warp.block.launch.memory.find(address, bytes);
      first = found->address;
      memory = found->memory.get();
    }
    return data;
  }

private:
  bool isQuick(uint64_t offset, unsigned bytes, bool isWrite, unsigned lane) {
    Block &block = warp.block;
    if (!block.launch.options.isChecked)
      return !isWrite || space == Space::shared;
    unsigned count;
    Cell *cells = memory->findCells(offset, bytes, count);
    if (!cells)
      return false;
    const Segment segment = warp.segment ? warp.segment : block.segmentOf(warp);
    for (unsigned i = 0; i < count; ++i)
      if (!block.checkQuickly(segment, lane, cells[i], isWrite))
        return false;
    return true;
  }

  Warp &warp;
  Space space;
  Memory *memory = nullptr;
  uint64_t first = 0;
};

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_REACH_H
