//===- Barriers.cpp - barriers of warps and blocks, and mbarriers ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Decode.h"

#include <algorithm>

using namespace emugpu;

/// The most threads that an mbarrier can count.
static constexpr uint64_t kMostArrivals = (1 << 20) - 1;

/// Orders the lanes of a warp.
static void meetWarp(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffer[kLanes];
  const uint64_t *masks = warp.read(op.operand(0), buffer);
  const Mask members = Mask(masks[__builtin_ctz(mask)]);
  if (warp.gather(members, mask))
    warp.releaseLanes(mask);
}

/// Returns the value of an operand. It must be equal for all lanes.
static unsigned uniform(Warp &warp, const Operand &operand, Mask mask,
                        uint64_t most, const char *name) {
  uint64_t buffer[kLanes];
  const uint64_t *values = warp.read(operand, buffer);
  const uint32_t value = uint32_t(values[__builtin_ctz(mask)]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) && uint32_t(values[lane]) != value)
      warp.fault(std::string("lanes give different values for ") + name,
                 int(lane));
  if (value > most)
    warp.fault(std::string(name) + " is " + std::to_string(value) +
               ", above the limit of " + std::to_string(most));
  return value;
}

/// bar.sync a(, b) and bar.arrive a, b. Waits if `mode` is 0. `mode2` is true
/// for the form that all lanes of a warp must execute together.
static void meetBlock(Warp &warp, const Instruction &op, Mask mask) {
  if (op.mode2 && mask != warp.live)
    if (!warp.gather(warp.live, mask))
      return;
  const unsigned id =
      uniform(warp, op.operand(0), mask, 15, "the barrier's number");
  unsigned threads = 0;
  if (op.numOperands() == 2) {
    threads = uniform(warp, op.operand(1), mask, 1024,
                      "the barrier's number of threads");
    if (!threads || threads % kLanes)
      warp.fault("a barrier's number of threads must be a multiple of 32");
  }
  warp.block.arrive(warp, mask, id, threads, op.mode == 0);
}

static bool decodeBarrier(Opcode &opcode, Instruction &op, bool isBar) {
  if (isBar && opcode.take("warp")) {
    op.execute = meetWarp;
    return opcode.take("sync") && haveKinds(op, "v");
  }
  opcode.take("cta");
  const int kind = opcode.takeOneOf({"sync", "arrive"});
  op.mode = uint8_t(kind);
  op.mode2 = opcode.take("aligned") || isBar;
  op.execute = meetBlock;
  if (kind < 0)
    return false;
  return haveKinds(op, "vv") || (kind == 0 && haveKinds(op, "v"));
}

static bool decodeBar(Opcode &opcode, Instruction &op) {
  return decodeBarrier(opcode, op, true);
}
static bool decodeCtaBarrier(Opcode &opcode, Instruction &op) {
  return decodeBarrier(opcode, op, false);
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

template <typename Function>
static void forEachLane(Mask mask, Function function) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (mask >> lane & 1)
      function(lane);
}

static void initialize(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffers[2][kLanes];
  const uint64_t *addresses = warp.read(op.operand(0), buffers[0]);
  const uint64_t *counts = warp.read(op.operand(1), buffers[1]);
  forEachLane(mask, [&](unsigned lane) {
    // The object occupies eight bytes of memory with undefined contents.
    warp.access(Space::shared, addresses[lane], 8, /*isWrite=*/true, lane);
    const uint32_t count = uint32_t(counts[lane]);
    if (!count || count > kMostArrivals)
      warp.fault("an mbarrier cannot expect " + std::to_string(count) +
                     " arrivals",
                 int(lane));
    MBarrier &barrier = warp.block.mbarriers[uint32_t(addresses[lane])];
    barrier = MBarrier();
    barrier.count = barrier.pending = count;
  });
}

/// Checks that the access of the lane is ordered after the initialization.
static MBarrier &barrierOf(Warp &warp, uint64_t address, unsigned lane) {
  warp.access(Space::shared, address, 8, /*isWrite=*/false, lane,
              /*isAtomic=*/true);
  return warp.block.mbarrierAt(warp, uint32_t(address));
}

static void arriveAtBarrier(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffer[kLanes], tokens[kLanes] = {};
  const uint64_t *addresses = warp.read(op.operand(1), buffer);
  forEachLane(mask, [&](unsigned lane) {
    MBarrier &barrier = barrierOf(warp, addresses[lane], lane);
    // The token is the phase in which the arrival happened.
    tokens[lane] = barrier.phase;
    warp.block.arriveAt(warp, lane, barrier);
    warp.releaseLanes(Mask(1) << lane);
  });
  warp.write(op.operand(0), tokens, mask);
}

/// Tests if a phase is complete. `mode` is true if the operand is a parity.
static void testBarrier(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffers[2][kLanes];
  const uint64_t *addresses = warp.read(op.operand(1), buffers[0]);
  const uint64_t *phases = warp.read(op.operand(2), buffers[1]);
  Mask complete = 0;
  ++warp.block.launch.polls;
  forEachLane(mask, [&](unsigned lane) {
    MBarrier &barrier = barrierOf(warp, addresses[lane], lane);
    const bool isComplete = op.mode ? (barrier.phase & 1) != (phases[lane] & 1)
                                    : barrier.phase != uint32_t(phases[lane]);
    if (!isComplete)
      return;
    complete |= Mask(1) << lane;
    warp.block.learn(warp, lane, barrier.completed);
  });
  warp.writePredicate(op.operand(0), complete, mask);
}

static bool decodeMBarrier(Opcode &opcode, Instruction &op) {
  const int kind =
      opcode.takeOneOf({"init", "arrive", "test_wait", "try_wait", "inval"});
  op.mode = (kind == 2 || kind == 3) && opcode.take("parity");
  if (opcode.takeOneOf({"shared", "shared::cta"}) < 0 || !opcode.take("b64"))
    return false;
  switch (kind) {
  case 0:
    op.execute = initialize;
    return haveKinds(op, "av");
  case 1:
    op.execute = arriveAtBarrier;
    return haveKinds(op, "ra");
  case 2:
  case 3:
    op.execute = testBarrier;
    return haveKinds(op, "pav");
  case 4:
    op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
      uint64_t buffer[kLanes];
      const uint64_t *addresses = warp.read(o.operand(0), buffer);
      forEachLane(mask, [&](unsigned lane) {
        warp.access(Space::shared, addresses[lane], 8, true, lane);
        warp.block.mbarrierAt(warp, uint32_t(addresses[lane]));
        warp.block.mbarriers.erase(uint32_t(addresses[lane]));
      });
    };
    return haveKinds(op, "a");
  }
  return false;
}

void emugpu::addBarriers(Decoders &decoders) {
  decoders["bar"] = decodeBar;
  decoders["barrier"] = decodeCtaBarrier;
  decoders["mbarrier"] = decodeMBarrier;
}
