//===- Numbers.h - the number formats of a GPU ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_NUMBERS_H
#define INGOT_TOOLS_EMUGPU_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

namespace emugpu {

template <typename To, typename From>
To bitCast(From from) {
  static_assert(sizeof(To) <= sizeof(From), "no bits may be missing");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
/// Returns the bits of a value as they are in a register.
template <typename T>
uint64_t toBits(T value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(value));
  return bits;
}

inline float halfToFloat(uint16_t half) { return _cvtsh_ss(half); }
/// Rounds to the nearest value, ties to even.
inline uint16_t floatToHalf(float value) {
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}
inline float bfloatToFloat(uint16_t value) {
  return bitCast<float>(uint32_t(value) << 16);
}
/// Rounds to the nearest value, ties to even. NaN becomes the canonical NaN.
inline uint16_t floatToBfloat(float value) {
  if (std::isnan(value))
    return 0x7fff;
  uint32_t bits = bitCast<uint32_t>(value);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
/// Returns the value of a tf32 register for matrix instructions, which ignore
/// its lowest 13 bits.
inline float tf32ToFloat(uint32_t bits) {
  return bitCast<float>(bits & 0xffffe000u);
}
/// Rounds to tf32, ties away from zero.
inline uint32_t floatToTf32(float value) {
  if (std::isnan(value))
    return 0x7fffffff;
  return (bitCast<uint32_t>(value) + 0x1000) & 0xffffe000u;
}

/// A wrapper of the bits, so that each format is a type with float arithmetic.
struct Half {
  uint16_t bits;
  static Half of(float value) { return {floatToHalf(value)}; }
  float value() const { return halfToFloat(bits); }
};
struct Bfloat {
  uint16_t bits;
  static Bfloat of(float value) { return {floatToBfloat(value)}; }
  float value() const { return bfloatToFloat(bits); }
};

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_NUMBERS_H
