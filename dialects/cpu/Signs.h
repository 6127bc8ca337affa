//===- Signs.h - values -1, 0 and 1 as bits ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout of values -1, 0 and 1 as sign bits, where a set bit means -1. A value
// is (u + v) / 2 of two signs, which are equal unless the value is 0. So a sum
// of products with weights of ±1 is half of two sums of products of signs. A
// sum of C products of signs is C - 2 d, where d signs differ.
//
// A pixel of C channels has `ceil(C / 32)` 32-bit elements of u and as many of
// v. A further element is 0 if the pixel has no zeros, so that u equals v. If a
// tensor has no zeros, pixels hold u only. In u, in v and in a tap's weights,
// every second element is stored xor the element before it. Bits behind channel
// C are 0.
//
// The xor saves an instruction for each pair of elements. Let a = x0 ^ w0 and b
// = x1 ^ w1 be differences to count, and s the bits counted so far. Then
// s ^ (x0 ^ x1) ^ (w0 ^ w1), which is s ^ a ^ b, is one instruction with three
// operands. The carry is another. Only carries are counted, which takes five
// instructions for two elements instead of six.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_SIGNS_H
#define INGOT_DIALECTS_CPU_SIGNS_H

#include <cstdint>

namespace ingot::cpu {

constexpr int64_t kSignsOfWord = 32;
/// Number of signs in a pair of elements.
constexpr int64_t kSignsOfPair = 2 * kSignsOfWord;

/// Returns the number of 32-bit elements for one sign per channel. This is the
/// size of a pixel without zeros.
constexpr int64_t signWords(int64_t channels) {
  return (channels + kSignsOfWord - 1) / kSignsOfWord;
}
constexpr int64_t pixelWords(int64_t channels) {
  return 2 * signWords(channels) + 1;
}

/// Returns the number of signs per value: 2, or 1 without zeros. Returns 0 if
/// pixels of `channels` channels cannot have `words` elements.
constexpr int64_t planesOf(int64_t channels, int64_t words) {
  return words == pixelWords(channels)  ? 2
         : words == signWords(channels) ? 1
                                        : 0;
}

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_SIGNS_H
