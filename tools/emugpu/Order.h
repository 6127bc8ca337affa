//===- Order.h - accesses that order lanes ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_ORDER_H
#define INGOT_TOOLS_EMUGPU_ORDER_H

#include "tools/emugpu/Decode.h"

namespace emugpu {

/// Flags of an access that orders lanes.
constexpr uint8_t kAcquires = 1, kReleases = 2;

/// Publishes what a lane is ordered behind, for lanes that see its atomic.
void publish(Warp &warp, unsigned lane, uint64_t address);

/// Orders a lane behind what was published at an address.
void acquire(Warp &warp, unsigned lane, uint64_t address);

/// Takes a state space; generic if there is none.
Space takeSpace(Opcode &opcode);

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_ORDER_H
