//===- Block.cpp - the warps of a block, and their barriers
//----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
