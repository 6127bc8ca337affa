//===- Block.cpp - barriers, and the order of accesses --------------------===//
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
#include "tools/emugpu/Machine.h"

#include <algorithm>

using namespace emugpu;

static Mask lanesOf(unsigned numThreads, unsigned warp) {
  const unsigned left = numThreads - warp * kLanes;
  return left >= kLanes ? kAllLanes : (Mask(1) << left) - 1;
}

static uint64_t sharedBytes(const Launch &launch) {
  const uint64_t fixed = launch.program.kernel->sharedBytes;
  return launch.dynamicShared ? (fixed + 127) / 128 * 128 + launch.dynamicShared
                              : fixed;
}

Block::Block(Launch &launch, Dimensions index, uint64_t number)
    : launch(launch), index(index), number(number),
      shared(sharedBytes(launch)) {
  const unsigned threads = numThreads();
  for (unsigned warp = 0; warp * kLanes < threads; ++warp)
    warps.push_back(std::make_unique<Warp>(
        *this, warp, __builtin_popcount(lanesOf(threads, warp))));
}

unsigned Block::numThreads() const {
  return unsigned(launch.blockSize.count());
}

bool Block::isDone() const {
  for (const std::unique_ptr<Warp> &warp : warps)
    if (!warp->isDone())
      return false;
  return true;
}

uint64_t Block::run() {
  // Start with a random warp, and let each warp run for a random time.
  uint64_t executed = 0;
  const size_t first = launch.random() % warps.size();
  for (size_t i = 0; i < warps.size(); ++i)
    executed += warps[(first + i) % warps.size()]->run(
        uint64_t(1) << (launch.random() % 12));
  return executed;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Block::arrive(Warp &warp, Mask mask, unsigned id, unsigned expected,
                   bool waits) {
  Barrier &barrier = barriers[id];
  if (barrier.waiting.empty()) {
    barrier.waiting.resize(warps.size());
    barrier.passing.resize(warps.size());
    barrier.expected = expected;
  } else if (barrier.expected != expected) {
    warp.fault("barrier " + std::to_string(id) + " expects " +
               std::to_string(expected) + " threads here, and " +
               std::to_string(barrier.expected) + " elsewhere");
  }
  if (waits)
    warp.atBarrier |= mask;
  (waits ? barrier.waiting : barrier.passing)[warp.number] |= mask;
  barrier.arrived += __builtin_popcount(mask);
  threadsExited();
}

/// Ends the barriers at which all threads have arrived.
void Block::threadsExited() {
  uint32_t alive = 0;
  for (const std::unique_ptr<Warp> &warp : warps)
    alive += __builtin_popcount(warp->live);
  for (auto next = barriers.begin(); next != barriers.end();) {
    auto [id, barrier] = *next;
    const uint32_t expected = barrier.expected ? barrier.expected : alive;
    if (barrier.arrived < expected) {
      ++next;
      continue;
    }
    next = barriers.erase(next);
    complete(barrier, id);
  }
}

void Block::complete(Barrier &barrier, unsigned id) {
  ++launch.progress;
  uint32_t arrived = 0, alive = 0;
  for (size_t i = 0; i < warps.size(); ++i) {
    const Mask mask = barrier.waiting[i] | barrier.passing[i];
    if (mask & (mask ^ warps[i]->live))
      warps[i]->fault("a lane left barrier " + std::to_string(id) + " early");
    arrived += __builtin_popcount(barrier.waiting[i]);
    alive += __builtin_popcount(warps[i]->live);
  }
  if (arrived == alive) {
    ++epoch;
    for (std::unique_ptr<Warp> &warp : warps) {
      ++warp->clock;
      warp->segment = 0;
    }
  } else {
    std::vector<uint32_t> all(numThreads());
    for (size_t i = 0; i < warps.size(); ++i)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((barrier.waiting[i] | barrier.passing[i]) >> lane & 1) {
          std::vector<uint32_t> known = knowledgeOf(*warps[i], lane);
          for (size_t t = 0; t < all.size(); ++t)
            all[t] = std::max(all[t], known[t]);
        }
    for (size_t i = 0; i < warps.size(); ++i) {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (barrier.waiting[i] >> lane & 1)
          learn(*warps[i], lane, all);
      if (barrier.waiting[i] | barrier.passing[i]) {
        ++warps[i]->clock;
        warps[i]->segment = 0;
      }
    }
  }
  for (size_t i = 0; i < warps.size(); ++i)
    warps[i]->atBarrier &= ~barrier.waiting[i];
}

MBarrier &Block::mbarrierAt(Warp &warp, uint32_t address) {
  auto found = mbarriers.find(address);
  if (found == mbarriers.end())
    warp.fault("there is no mbarrier at " + std::to_string(address) +
               ": mbarrier.init is missing");
  return found->second;
}

void Block::arriveAt(Warp &warp, unsigned lane, MBarrier &barrier) {
  std::vector<uint32_t> known = knowledgeOf(warp, lane);
  barrier.arriving.resize(known.size());
  for (size_t i = 0; i < known.size(); ++i)
    barrier.arriving[i] = std::max(barrier.arriving[i], known[i]);
  if (!barrier.pending)
    warp.fault("more lanes arrive at an mbarrier than it expects", int(lane));
  if (--barrier.pending)
    return;
  ++barrier.phase;
  ++launch.progress;
  barrier.pending = barrier.count;
  barrier.completed = std::move(barrier.arriving);
  barrier.arriving.clear();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Returns for each thread of the block the clock up to which its accesses come
/// before the lane's next access. Includes the lane itself.
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
    return launch.endedBefore(segment);
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
      // The usual case: a lane accesses bytes that it has used alone.
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
        const Launch::Readers &others = launch.readers[cell.readers];
        if (others.areManyBlocks)
          warp.fault("race: " + place() +
                         " is written, and was read by several blocks",
                     int(lane));
        for (const Launch::Readers::OfWarp &reads : others.reads)
          for (unsigned other = 0; other < kLanes; ++other)
            if (reads.lanes >> other & 1)
              checkReader(reads.segment, other);
      }
    }
    if (isWrite) {
      cell.writer = segment;
      cell.writeLane = uint8_t(lane);
      cell.isDefined = true;
      cell.isAtomic = isAtomic;
      cell.reader = 0;
      cell.readers = 0;
      return;
    }
    if (cell.reader == segment && cell.readLane == lane)
      return;
    noteReader(warp, lane, cell, segment);
  });
}

/// Adds a lane to the readers of a cell. Forgets earlier readers only if every
/// later write is also ordered after them.
void Block::noteReader(const Warp &warp, unsigned lane, Cell &cell,
                       Segment segment) {
  const Segment before = cell.reader;
  const unsigned beforeLane = cell.readLane;
  cell.reader = segment;
  cell.readLane = uint8_t(lane);
  if (before < launch.firstSegment) {
    cell.readers = 0;
    return;
  }
  const Launch::Owner &owner = launch.owners[before - launch.firstSegment];
  if (owner.block == number && owner.epoch < epoch) {
    cell.readers = 0;
    return;
  }
  const bool hasOthers = cell.readers != 0;
  if (!hasOthers && isOrdered(warp, lane, before, beforeLane))
    return;
  if (!hasOthers) {
    cell.readers = uint32_t(launch.readers.size());
    launch.readers.emplace_back();
  }
  Launch::Readers &set = launch.readers[cell.readers];
  if (set.areManyBlocks)
    return;
  if (owner.block != number) {
    set.areManyBlocks = true;
    set.reads = {};
    return;
  }
  auto add = [&](uint32_t warpNumber, uint32_t clock, unsigned which,
                 Segment of) {
    for (Launch::Readers::OfWarp &reads : set.reads)
      if (reads.warp == warpNumber) {
        if (reads.clock == clock) {
          reads.lanes |= Mask(1) << which;
          return;
        }
        reads.lanes &= ~(Mask(1) << which);
      }
    set.reads.erase(std::remove_if(set.reads.begin(), set.reads.end(),
                                   [](const Launch::Readers::OfWarp &reads) {
                                     return !reads.lanes;
                                   }),
                    set.reads.end());
    set.reads.push_back({warpNumber, epoch, clock, Mask(1) << which, of});
  };
  if (!hasOthers)
    add(owner.warp, owner.clock, beforeLane, before);
  add(warp.number, warp.clock, lane, segment);
}
