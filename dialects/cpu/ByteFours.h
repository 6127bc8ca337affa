//===- ByteFours.h - weights of single channels of bytes --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One instruction multiplies four bytes of src with four weights in each lane
// of 32 bits. In a convolution of single channels the four are pixels of
// neighbouring rows, one above the other, so that what is made of a column of
// pixels serves all taps along the row. Four rows of 64 channels are unpacked
// in lanes of 128 bits, 16 channels each, of which the first vector gets the
// first four, and so on.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_BYTEFOURS_H
#define INGOT_DIALECTS_CPU_BYTEFOURS_H

#include "llvm/Support/MathExtras.h"

#include <cstdint>

namespace ingot::cpu {

/// The operand `fours` of `cpu.depthwise_conv`: `groups, Kn, places, 4`.
struct ByteFours {
  /// Taps of a group.
  static constexpr int64_t kTaps = 4;
  /// Channels that are unpacked at once, channels of a vector, and of one that
  /// lie together then.
  static constexpr int64_t kBlock = 64, kVector = 16, kRun = 4;

  /// Of `rows` taps of all spatial dimensions but the last.
  static int64_t groupsOf(int64_t rows) {
    return llvm::divideCeil(rows, kTaps);
  }
  static int64_t placesOf(int64_t channels) {
    return llvm::alignTo(channels, kVector);
  }
  /// Where channel `channel` of a block stands in its four vectors.
  static int64_t unpackedPlace(int64_t channel) {
    int64_t lane = channel / kVector, vector = channel % kVector / kRun;
    return vector * kVector + lane * kRun + channel % kRun;
  }
  /// Where channel `channel` of `channels` stands: those behind the last whole
  /// block stay as they are.
  static int64_t placeOf(int64_t channel, int64_t channels) {
    int64_t block = channel / kBlock * kBlock;
    return block + kBlock > channels ? channel
                                     : block + unpackedPlace(channel - block);
  }
};

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_BYTEFOURS_H
