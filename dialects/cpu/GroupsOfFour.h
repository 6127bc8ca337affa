//===- GroupsOfFour.h - depthwise weights of bytes --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout of the weights for depthwise convolutions of bytes. One instruction
// multiplies four bytes of src with four weights in each 32-bit lane. The four
// bytes are pixels of four neighboring rows, one above the other. So one
// unpacked column of pixels serves all taps along the row. Four rows of 64
// channels are unpacked in 128-bit lanes of 16 channels, where each of the four
// vectors gets four channels of each lane.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_GROUPSOFFOUR_H
#define INGOT_DIALECTS_CPU_GROUPSOFFOUR_H

#include "llvm/Support/MathExtras.h"

#include <cstdint>

namespace ingot::cpu {

/// The operand `fours` of `cpu.depthwise_conv`: `groups, Kn, places, 4`.
struct GroupsOfFour {
  /// Taps of a group.
  static constexpr int64_t kTaps = 4;
  /// Channels that are unpacked together, channels of a vector, and channels
  /// that stay neighbors.
  static constexpr int64_t kBlock = 64, kVector = 16, kRun = 4;

  /// Returns the number of groups for `rows` taps of all spatial dimensions but
  /// the last.
  static int64_t groupsOf(int64_t rows) {
    return llvm::divideCeil(rows, kTaps);
  }
  static int64_t placesOf(int64_t channels) {
    return llvm::alignTo(channels, kVector);
  }
  /// Returns the position of channel `channel` of a block in the block's four
  /// vectors.
  static int64_t unpackedPlace(int64_t channel) {
    int64_t lane = channel / kVector, vector = channel % kVector / kRun;
    return vector * kVector + lane * kRun + channel % kRun;
  }
  /// Returns the position of channel `channel` of `channels`. Channels behind
  /// the last whole block keep their position.
  static int64_t placeOf(int64_t channel, int64_t channels) {
    int64_t block = channel / kBlock * kBlock;
    return block + kBlock > channels ? channel
                                     : block + unpackedPlace(channel - block);
  }
};

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_GROUPSOFFOUR_H
