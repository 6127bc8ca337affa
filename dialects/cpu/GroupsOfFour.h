//===- GroupsOfFour.h - depthwise products of bytes -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depthwise convolutions of bytes. In each 32-bit lane, one instruction
// multiplies four bytes of src by four weights. The four bytes are from four
// neighboring rows, one above the other. So a column of pixels is unpacked once
// for all taps along the row.
//
// Unpacking four rows of 64 channels works in 128-bit lanes of 16 channels.
// Each of the four resulting vectors gets four channels of each lane.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_GROUPSOFFOUR_H
#define INGOT_DIALECTS_CPU_GROUPSOFFOUR_H

#include <cstdint>

namespace ingot::cpu {

/// Sizes of depthwise products of bytes.
struct GroupsOfFour {
  /// Number of taps in a group.
  static constexpr int64_t kTaps = 4;
  /// Number of channels that are unpacked together, of channels in a vector,
  /// and of channels that stay neighbors.
  static constexpr int64_t kBlock = 64, kVector = 16, kRun = 4;
};

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_GROUPSOFFOUR_H
