//===- Signs.h - numbers -1, 0 and 1 as bits --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number is (u + v) / 2 of two signs, which are the same unless it is 0. So a
// sum of products with other signs is half of two sums of products of signs,
// and nothing is left out: C - 2 d with d of C signs that differ. A bit is set
// where a sign is -1.
//
// A pixel of C channels lies in words of i32: `ceil(C / 32)` of u, as many of
// v, and one that is 0 if no number of the pixel is, that is if u and v are the
// same. Where no number of a tensor is 0, pixels are the words of u alone. The
// second, fourth and so on of the words of u, of v and of a tap's
// weights is stored xor the one before it. Bits behind channel C are 0.
//
// Why: of two words, the differences a = x0 ^ w0 and b = x1 ^ w1 are to be
// counted, and s of bits counted so far. s ^ a ^ b = s ^ (x0 ^ x1) ^ (w0 ^ w1)
// is then one instruction that takes three operands, the carry another, and
// only carries have to be counted: five instructions for two words, not six.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_SIGNS_H
#define INGOT_DIALECTS_CPU_SIGNS_H

#include <cstdint>

namespace ingot::cpu {

constexpr int64_t kSignsOfWord = 32;
/// Of two words that belong together.
constexpr int64_t kSignsOfPair = 2 * kSignsOfWord;

/// Words of one sign of each channel, which are those of a pixel without zeros,
/// and words of a pixel that may have some.
constexpr int64_t signWords(int64_t channels) {
  return (channels + kSignsOfWord - 1) / kSignsOfWord;
}
constexpr int64_t pixelWords(int64_t channels) {
  return 2 * signWords(channels) + 1;
}

/// How many signs a number of such a pixel has: 2, or 1 without zeros; 0 if
/// pixels of `channels` do not have so many words.
constexpr int64_t planesOf(int64_t channels, int64_t words) {
  return words == pixelWords(channels)  ? 2
         : words == signWords(channels) ? 1
                                        : 0;
}

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_SIGNS_H
