//===- Signs.h - values -1, 0 and 1 as bits ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout of values -1, 0 and 1 as sign bits, where a set bit means -1. A value
// is (u + v) / 2, where u and v are signs. They are equal unless the value is
// 0. So a sum of products with weights of ±1 is half the sum of two sums of
// products of signs. A sum of C products of signs is C - 2 d if d pairs of
// signs differ.
//
// A pixel of C channels has `ceil(C / 32)` 32-bit elements for u, and equally
// many for v. One more element is 0 if the pixel contains no zeros, because u
// then equals v. If a whole tensor has no zeros, its pixels contain only u. In
// u, in v and in the weights of a tap, every second element is stored as the
// xor with its predecessor. Bits after channel C are 0.
//
// The xor saves an instruction for each pair of elements. Let a = x0 ^ w0 and b
// = x1 ^ w1 be the differences to count, and s the counted bits so far. The new
// sum bit is s ^ (x0 ^ x1) ^ (w0 ^ w1), which equals s ^ a ^ b. It takes one
// instruction with three operands, and the carry takes another. Only carries
// are counted. So two elements take five instructions instead of six.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_SIGNS_H
#define INGOT_DIALECTS_CPU_SIGNS_H

#include <cstdint>

namespace ingot::cpu {

constexpr int64_t kSignsOfWord = 32;
/// Number of signs in two elements.
constexpr int64_t kSignsOfPair = 2 * kSignsOfWord;

/// Returns the number of 32-bit elements that hold one sign per channel. A
/// pixel without zeros has this size.
constexpr int64_t signWords(int64_t channels) {
  return (channels + kSignsOfWord - 1) / kSignsOfWord;
}
constexpr int64_t pixelWords(int64_t channels) {
  return 2 * signWords(channels) + 1;
}

/// Returns the number of signs per value: 2, or 1 without zeros. Returns 0 if
/// no layout of `channels` channels has pixels of `words` elements.
constexpr int64_t planesOf(int64_t channels, int64_t words) {
  return words == pixelWords(channels)  ? 2
         : words == signWords(channels) ? 1
                                        : 0;
}

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_SIGNS_H
