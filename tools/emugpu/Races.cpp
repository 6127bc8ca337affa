//===- Order.cpp - the order of accesses, and races -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access is ordered after an earlier access of the block in four cases:
// | one lane made both
// | a barrier of all threads is between them
// | the lanes of a warp have met at bar.warp.sync in between
// | other barriers, mbarriers, or fences with atomics connect both lanes
// Only for the last case does a lane keep a clock for each thread of the block.
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Reach.h"

#include <algorithm>

using namespace emugpu;

/// Returns the clocks of all threads up to which the lane is ordered after
/// them. Includes the lane's own clock.
std::vector<uint32_t> Block::knowledgeOf(const Warp &warp,
                                         unsigned lane) const {
  std::vector<uint32_t> known = warp.lanes[lane].known;
  known.resize(numThreads());
  for (unsigned other = 0; other < kLanes; ++other) {
    const size_t thread = warp.number * kLanes + other;
    if (thread >= known.size())
      break;
    uint32_t clock = other == lane ? warp.clock + 1 : warp.knows[lane][other];
    known[thread] = std::max(known[thread], clock);
  }
  return known;
}

void Block::learn(Warp &warp, unsigned lane,
                  const std::vector<uint32_t> &more) {
  std::vector<uint32_t> &known = warp.lanes[lane].known;
  known.resize(numThreads());
  for (size_t i = 0; i < more.size(); ++i)
    known[i] = std::max(known[i], more[i]);
}

Segment Block::segmentOf(Warp &warp) {
  if (warp.segment)
    return warp.segment;
  launch.owners.push_back({number, warp.number, epoch, warp.clock,
                           warp.current ? warp.current->source->line : 0});
  return warp.segment = launch.firstSegment + Segment(launch.owners.size() - 1);
}

bool Block::isOrdered(const Warp &warp, unsigned lane, Segment segment,
                      unsigned otherLane) const {
  if (!segment)
    return true;
  if (segment < launch.firstSegment)
    return launch.hasEnded(segment);
  const Launch::Owner &owner = launch.owners[segment - launch.firstSegment];
  if (owner.block != number) {
    auto found = launch.acquired.find({number, owner.block});
    if (found == launch.acquired.end())
      return false;
    const Launch::Published &seen = found->second;
    if (owner.epoch < seen.epoch)
      return true;
    const size_t thread = owner.warp * kLanes + otherLane;
    return thread < seen.known.size() && owner.clock < seen.known[thread];
  }
  if (owner.epoch < epoch)
    return true;
  if (owner.warp == warp.number &&
      (otherLane == lane || owner.clock < warp.knows[lane][otherLane]))
    return true;
  const std::vector<uint32_t> &known = warp.lanes[lane].known;
  return !known.empty() && owner.clock < known[owner.warp * kLanes + otherLane];
}

std::string Block::describe(Segment segment, unsigned lane) const {
  if (segment < launch.firstSegment)
    return "by earlier work that need not have ended";
  const Launch::Owner &owner = launch.owners[segment - launch.firstSegment];
  std::string text = "by warp " + std::to_string(owner.warp) + ", lane " +
                     std::to_string(lane);
  if (owner.block != number)
    text += " of block number " + std::to_string(owner.block);
  return text + ", behind PTX line " + std::to_string(owner.line) +
         ", and nothing orders both";
}

void Block::check(Warp &warp, unsigned lane, Memory &memory, uint64_t offset,
                  unsigned bytes, bool isWrite, bool isAtomic,
                  const char *name) {
  if (!launch.options.isChecked) {
    if (isWrite && &memory != &shared)
      memory.forEachCell(offset, bytes,
                         [](Cell &cell) { cell.isDefined = true; });
    return;
  }
  const Segment segment = segmentOf(warp);
  auto place = [&] {
    return std::string(name) + " at " + std::to_string(offset);
  };
  memory.forEachCell(offset, bytes, [&](Cell &cell) {
    if (cell.isInFlight)
      warp.fault(place() + " is touched while an asynchronous copy writes it: "
                           "nobody has waited for the copy",
                 int(lane));
    if (!isWrite && !cell.isDefined)
      warp.fault(place() + " is read, but nobody wrote it", int(lane));
    if (cell.writer == segment && cell.writeLane == lane) {
      // Fast path: no other lane has used the bytes.
    } else if (!(cell.isAtomic && isAtomic) &&
               !isOrdered(warp, lane, cell.writer, cell.writeLane)) {
      warp.fault(std::string("race: ") + place() + " is " +
                     (isWrite ? "written" : "read") + ", and was written " +
                     describe(cell.writer, cell.writeLane),
                 int(lane));
    }
    if (isWrite && !(cell.isAtomic && isAtomic)) {
      auto checkReader = [&](Segment reader, unsigned readLane) {
        if (!isOrdered(warp, lane, reader, readLane))
          warp.fault(std::string("race: ") + place() +
                         " is written, and was read " +
                         describe(reader, readLane),
                     int(lane));
      };
      if (!(cell.reader == segment && cell.readLane == lane))
        checkReader(cell.reader, cell.readLane);
      if (cell.readers && cell.reader >= launch.firstSegment) {
        if (cell.readers == kManyBlocks)
          warp.fault("race: " + place() +
                         " is written, and was read by several blocks",
                     int(lane));
        for (const Launch::Readers &reads : launch.readers[cell.readers])
          for (unsigned other = 0; other < kLanes; ++other)
            if (reads.lanes >> other & 1)
              checkReader(reads.segment, other);
      }
    }
    if (isWrite) {
      forgetReaders(cell);
      cell.writer = segment;
      cell.writeLane = uint8_t(lane);
      cell.isDefined = true;
      cell.isAtomic = isAtomic;
      cell.reader = 0;
      return;
    }
    if (cell.reader == segment && cell.readLane == lane)
      return;
    noteReader(warp, lane, cell, segment);
  });
}

/// Empties the set of a cell's readers.
void Block::forgetReaders(Cell &cell) {
  // A set of an earlier launch is gone, and another cell may have the set.
  if (cell.readers > kManyBlocks && cell.reader >= launch.firstSegment &&
      !cell.sharesReaders) {
    launch.readers[cell.readers].clear();
    launch.unusedReaders.push_back(cell.readers);
  }
  cell.readers = 0;
  cell.sharesReaders = false;
}

/// Returns the number of an empty set of readers.
uint32_t Block::newReaders() {
  if (launch.unusedReaders.empty()) {
    launch.readers.emplace_back();
    return uint32_t(launch.readers.size() - 1);
  }
  const uint32_t set = launch.unusedReaders.back();
  launch.unusedReaders.pop_back();
  return set;
}

/// Adds a lane to the readers of a cell. Forgets earlier readers only if every
/// later write is also ordered after them.
void Block::noteReader(const Warp &warp, unsigned lane, Cell &cell,
                       Segment segment) {
  const Segment before = cell.reader;
  const unsigned beforeLane = cell.readLane;
  const bool wereMany =
      before >= launch.firstSegment && cell.readers == kManyBlocks;
  if (!wereMany && isBehind(before))
    forgetReaders(cell);
  cell.reader = segment;
  cell.readLane = uint8_t(lane);
  if (wereMany || (!cell.readers && isOrdered(warp, lane, before, beforeLane)))
    return;
  if (before < launch.firstSegment) {
    // Earlier work that need not have ended has read the cell.
    cell.readers = 0;
    cell.sharesReaders = false;
    return;
  }
  const Launch::Owner &owner = launch.owners[before - launch.firstSegment];
  if (owner.block != number) {
    forgetReaders(cell);
    cell.readers = kManyBlocks;
    return;
  }
  const bool hasOthers = cell.readers != 0;
  if (!hasOthers || cell.sharesReaders) {
    const uint32_t own = newReaders();
    launch.readers[own] = launch.readers[cell.readers];
    cell.readers = own;
    cell.sharesReaders = false;
  }
  std::vector<Launch::Readers> &set = launch.readers[cell.readers];
  auto add = [&](uint32_t warpNumber, uint32_t clock, unsigned which,
                 Segment of) {
    for (Launch::Readers &reads : set)
      if (reads.warp == warpNumber) {
        if (reads.clock == clock) {
          reads.lanes |= Mask(1) << which;
          return;
        }
        reads.lanes &= ~(Mask(1) << which);
      }
    set.erase(std::remove_if(
                  set.begin(), set.end(),
                  [](const Launch::Readers &reads) { return !reads.lanes; }),
              set.end());
    set.push_back({warpNumber, clock, Mask(1) << which, of});
  };
  if (!hasOthers)
    add(owner.warp, owner.clock, beforeLane, before);
  add(warp.number, warp.clock, lane, segment);
}
