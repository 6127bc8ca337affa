//===- WarpMemory.cpp - accesses and asynchronous copies of warps ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Reach.h"

#include <cstdio>
#include <cstring>

using namespace emugpu;

/// First generic addresses of shared memory and of local memory.
static constexpr uint64_t kSharedWindow = uint64_t(0x7e) << 40,
                          kLocalWindow = uint64_t(0x7d) << 40,
                          kWindow = uint64_t(1) << 32;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint8_t *Warp::access(Space space, uint64_t address, unsigned bytes,
                      bool isWrite, unsigned lane, bool isAtomic) {
  if (address % bytes)
    fault("the address " + hexadecimal(address) + " is not aligned to " +
              std::to_string(bytes) + " bytes",
          int(lane));
  if (space == Space::generic) {
    if (address - kSharedWindow < kWindow) {
      space = Space::shared;
      address -= kSharedWindow;
    } else if (address - kLocalWindow < kWindow) {
      space = Space::local;
      address -= kLocalWindow;
    } else {
      space = Space::global;
    }
  }
  switch (space) {
  case Space::shared: {
    Memory &shared = block.shared;
    if (address > shared.size() || bytes > shared.size() - address)
      fault("shared memory at " + std::to_string(address) +
                " is out of bounds: the block has " +
                std::to_string(shared.size()) + " bytes",
            int(lane));
    block.check(*this, lane, shared, address, bytes, isWrite, isAtomic,
                "shared memory");
    return shared.data() + address;
  }
  case Space::local: {
    const uint64_t size = block.launch.program.kernel->localBytes;
    if (address > size || bytes > size - address)
      fault("local memory at " + std::to_string(address) + " is out of bounds",
            int(lane));
    const size_t at = lane * size + address;
    if (isWrite)
      memset(&localDefined[at], 1, bytes);
    else if (block.launch.options.isChecked &&
             memchr(&localDefined[at], 0, bytes))
      fault("local memory at " + std::to_string(address) +
                " is read, but nobody wrote it",
            int(lane));
    return &localMemory[at];
  }
  case Space::param: {
    const std::vector<uint8_t> &parameters = block.launch.parameters;
    if (isWrite || address > parameters.size() ||
        bytes > parameters.size() - address)
      fault("a parameter at " + std::to_string(address) + " is out of bounds",
            int(lane));
    return const_cast<uint8_t *>(parameters.data()) + address;
  }
  default: {
    Allocation *found = block.launch.memory.find(address, bytes);
    if (!found)
      fault("the address " + hexadecimal(address) + " of " +
                std::to_string(bytes) + " bytes is in no allocation",
            int(lane));
    if (isWrite && found->isConstant)
      fault("constant memory is written", int(lane));
    const uint64_t offset = address - found->address;
    block.check(*this, lane, *found->memory, offset, bytes, isWrite, isAtomic,
                "global memory");
    return found->memory->data() + offset;
  }
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void Warp::startCopy(unsigned lane, AsyncCopy copy) {
  copy.group = lanes[lane].committed;
  lanes[lane].copies.push_back(copy);
  block.shared.forEachCell(copy.target, copy.bytes,
                           [](Cell &cell) { cell.isInFlight = true; });
  // The bytes are NaN until the lane has waited for the copy.
  memset(block.shared.data() + copy.target, 0xff, copy.bytes);
}

void Warp::finishCopy(unsigned lane, const AsyncCopy &copy) {
  memcpy(block.shared.data() + copy.target, copy.data, copy.bytes);
  const Segment now = block.segmentOf(*this);
  block.shared.forEachCell(copy.target, copy.bytes, [&](Cell &cell) {
    cell.isInFlight = false;
    cell.isDefined = true;
    cell.isAtomic = false;
    cell.writer = now;
    cell.writeLane = uint8_t(lane);
  });
}

void Warp::commitCopies(Mask mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    lanes[lane].committed += mask >> lane & 1;
}

void Warp::waitCopies(Mask mask, size_t pending) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    std::vector<AsyncCopy> &copies = lanes[lane].copies;
    auto next = copies.begin();
    while (next != copies.end() &&
           next->group + pending < lanes[lane].committed)
      finishCopy(lane, *next++);
    copies.erase(copies.begin(), next);
  }
}
