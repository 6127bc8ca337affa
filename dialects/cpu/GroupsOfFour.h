//===- GroupsOfFour.h - depthwise weights of bytes --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout of the weights for depthwise convolutions of bytes. In each 32-bit
// lane, one instruction multiplies four bytes of src by four weights. The four
// bytes are from four neighboring rows, one above the other. So a column of
// pixels is unpacked once for all taps along the row.
//
// Unpacking four rows of 64 channels works in 128-bit lanes of 16 channels.
// Each of the four resulting vectors gets four channels of each lane.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_GROUPSOFFOUR_H
#define INGOT_DIALECTS_CPU_GROUPSOFFOUR_H

#include "llvm/Support/MathExtras.h"

#include <cstdint>

namespace ingot::cpu {

/// The operand `fours` of `cpu.depthwise_conv`: `groups, Kn, places, 4`.
struct GroupsOfFour {
  /// Number of taps in a group.
  static constexpr int64_t kTaps = 4;
  /// Number of channels that are unpacked together, of channels in a vector,
  /// and of channels that stay neighbors.
  static constexpr int64_t kBlock = 64, kVector = 16, kRun = 4;

  /// Returns the number of groups. `rows` is the number of taps in all spatial
  /// dimensions except the last.
  static int64_t groupsOf(int64_t rows) {
    return llvm::divideCeil(rows, kTaps);
  }
  static int64_t placesOf(int64_t channels) {
    return llvm::alignTo(channels, kVector);
  }
  /// Returns the position of a block's channel `channel` in the four vectors of
  /// the block.
  static int64_t unpackedPlace(int64_t channel) {
    int64_t lane = channel / kVector, vector = channel % kVector / kRun;
    return vector * kVector + lane * kRun + channel % kRun;
  }
  /// Returns the position of channel `channel` among `channels`. Channels after
  /// the last whole block keep their positions.
  static int64_t placeOf(int64_t channel, int64_t channels) {
    int64_t block = channel / kBlock * kBlock;
    return block + kBlock > channels ? channel
                                     : block + unpackedPlace(channel - block);
  }
};

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_GROUPSOFFOUR_H
