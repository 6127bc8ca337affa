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

/// Flags of an access that orders other accesses.
constexpr uint8_t kAcquires = 1, kReleases = 2;

/// Publishes the clocks that a lane is ordered after, for lanes that read its
/// atomic write.
void publish(Warp &warp, unsigned lane, uint64_t address);

/// Orders a lane after the accesses that were published at an address.
void acquire(Warp &warp, unsigned lane, uint64_t address);

/// Takes a state space. Without one, returns Space::generic.
Space takeSpace(Opcode &opcode);

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_ORDER_H
