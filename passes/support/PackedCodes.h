//===- PackedCodes.h - codes of a few bits in bytes -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes of 1, 2, 4 or 8 bits lie in bytes, the first in the lowest bits.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PACKEDCODES_H
#define INGOT_PASSES_SUPPORT_PACKEDCODES_H

#include <cstdint>

namespace ingot::support {

/// Returns code `i` of `bits` bits. Each integer of `bytes` holds one byte.
template <typename Integer>
unsigned readCode(const Integer *bytes, int64_t i, int64_t bits) {
  const int64_t perByte = 8 / bits;
  return uint8_t(bytes[i / perByte]) >> (i % perByte * bits) &
         ((1U << bits) - 1);
}

/// Sets code `i` of `bits` bits, which is 0.
inline void writeCode(char *bytes, int64_t i, int64_t bits, unsigned code) {
  const int64_t perByte = 8 / bits;
  char &byte = bytes[i / perByte];
  byte = char(uint8_t(byte) | code << (i % perByte * bits));
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_PACKEDCODES_H
