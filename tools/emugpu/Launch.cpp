//===- Launch.cpp - the blocks of a kernel --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Machine.h"

#include <algorithm>
#include <immintrin.h>

using namespace emugpu;

/// The most blocks that are resident at the same time.
static constexpr unsigned kMostResident = 4;
/// The number of turns in which lanes only poll. After so many turns, the lanes
/// are assumed to wait forever.
static constexpr unsigned kMostIdleTurns = 1 << 11;

/// Maps an index to its place in a random permutation of `count` numbers,
/// chosen by `key`. Uses a Feistel network over the next power of four, with
/// cycle walking.
static uint64_t permute(uint64_t index, uint64_t count, uint64_t key) {
  unsigned halfBits = 1;
  while ((uint64_t(1) << (2 * halfBits)) < count)
    ++halfBits;
  const uint64_t mask = (uint64_t(1) << halfBits) - 1;
  do {
    uint64_t left = index >> halfBits, right = index & mask;
    for (unsigned round = 0; round < 4; ++round) {
      uint64_t mixed = (right + key + round) * 0x9e3779b97f4a7c15u;
      mixed ^= mixed >> 29;
      const uint64_t swapped = (left ^ mixed) & mask;
      left = right;
      right = swapped;
    }
    index = left << halfBits | right;
  } while (index >= count);
  return index;
}

static std::string describeStuck(const Block &block) {
  for (const std::unique_ptr<Warp> &warp : block.warps) {
    if (warp->isDone())
      continue;
    if (warp->atCollective)
      return "deadlock: only some lanes of warp " +
             std::to_string(warp->number) +
             " are at an instruction that all lanes of its mask must execute";
    if (warp->atBarrier)
      return "deadlock: warp " + std::to_string(warp->number) +
             " waits at a barrier that other threads never reach";
  }
  return "deadlock: lanes poll for something that never comes";
}

namespace {
/// Computes as GPUs do as long as it lives: rounds to nearest, and takes
/// denormal numbers for what they are. The program that waits for the work may
/// have another state.
class DefaultFloats {
public:
  DefaultFloats() { _mm_setcsr(kDefault); }
  ~DefaultFloats() { _mm_setcsr(saved); }
  DefaultFloats(const DefaultFloats &) = delete;
  DefaultFloats &operator=(const DefaultFloats &) = delete;

private:
  static constexpr unsigned kDefault = 0x1f80;
  const unsigned saved = _mm_getcsr();
};
} // namespace

LaunchCounts emugpu::launch(const Program &program, Dimensions grid,
                            Dimensions blockSize, unsigned dynamicShared,
                            const std::vector<uint8_t> &parameters,
                            DeviceMemory &memory, const LaunchOptions &options,
                            Segment &nextSegment,
                            const EndedBefore &endedBefore) {
  const DefaultFloats floats;
  Launch launch(program, grid, blockSize, dynamicShared, parameters, memory,
                options, endedBefore, nextSegment);
  const uint64_t numBlocks = grid.count();
  const uint64_t key = launch.random();
  std::vector<std::unique_ptr<Block>> resident;
  uint64_t started = 0;
  unsigned idle = 0;
  auto end = [&] { nextSegment += Segment(launch.owners.size()); };
  try {
    while (started < numBlocks || !resident.empty()) {
      while (started < numBlocks && resident.size() < kMostResident) {
        uint64_t number = permute(started++, numBlocks, key);
        Dimensions index;
        index.x = unsigned(number % grid.x);
        index.y = unsigned(number / grid.x % grid.y);
        index.z = unsigned(number / grid.x / grid.y);
        resident.push_back(std::make_unique<Block>(launch, index, number));
        ++launch.counts.blocks;
      }
      const uint64_t before = launch.progress, polls = launch.polls;
      uint64_t executed = 0;
      for (std::unique_ptr<Block> &block : resident) {
        executed += block->run();
        if (block->isDone()) {
          ++launch.progress;
          block.reset();
        }
      }
      resident.erase(std::remove(resident.begin(), resident.end(), nullptr),
                     resident.end());
      if (launch.counts.instructions > options.mostInstructions)
        throw KernelFault{program.kernel->name +
                          ": the kernel executes more instructions than the "
                          "limit; it may run without end"};
      if (launch.progress != before)
        idle = 0;
      else if (launch.polls != polls)
        ++idle;
      if (!executed || idle > kMostIdleTurns)
        throw KernelFault{program.kernel->name + ": " +
                          describeStuck(*resident.front())};
    }
  } catch (...) {
    end();
    throw;
  }
  end();
  return launch.counts;
}
