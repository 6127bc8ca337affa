/*===- narrow.c - conversion to and from 16-bit floats -----------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Functions of a compiler runtime that generated code calls if the CPU level
 * lacks an instruction. An artifact is linked with no other compiler runtime.
 * 16-bit values are passed in the low bits of a vector register, like a float.
 *
 *===----------------------------------------------------------------------===*/
#include <stdint.h>
#include <string.h>

/** Returns a float whose low 16 bits are `bits`. */
static float carry(uint16_t bits) {
  uint32_t wide = bits;
  float result;
  memcpy(&result, &wide, sizeof result);
  return result;
}

/** Rounds `x` to a format of 1 sign bit, `exponent_bits` and `mantissa_bits`:
 *  to nearest, ties to even. */
static uint16_t narrow(double x, int exponent_bits, int mantissa_bits) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint16_t sign = (uint16_t)(bits >> 63 << 15);
  const int exponent = (int)(bits >> 52 & 0x7FF);
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t infinity = (uint32_t)((1 << exponent_bits) - 1)
                            << mantissa_bits;
  if (exponent == 0x7FF) {
    const uint32_t quiet = mantissa ? UINT32_C(1) << (mantissa_bits - 1) : 0;
    return (uint16_t)(sign | infinity | quiet);
  }
  /* Subnormal doubles are far smaller than any 16-bit number. */
  if (exponent == 0)
    return sign;
  mantissa |= UINT64_C(1) << 52;
  const int power = exponent - 1023, lowest = 1 - bias;
  int shift = 52 - mantissa_bits;
  if (power < lowest)
    shift += lowest - power;
  if (shift > 54)
    return sign;
  uint64_t rounded = mantissa >> shift;
  const uint64_t rest = mantissa & ((UINT64_C(1) << shift) - 1);
  const uint64_t half = UINT64_C(1) << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1)))
    ++rounded;
  /* A carry out of the mantissa increments the exponent, which is correct. */
  if (power >= lowest)
    rounded += (uint64_t)(power + bias - 1) << mantissa_bits;
  if (rounded > infinity)
    rounded = infinity;
  return (uint16_t)(sign | rounded);
}

float __truncdfhf2(double x);
float __truncsfhf2(float x);
float __truncdfbf2(double x);
float __truncsfbf2(float x);
float __extendhfsf2(float half);

float __truncdfhf2(double x) { return carry(narrow(x, 5, 10)); }
float __truncsfhf2(float x) { return carry(narrow((double)x, 5, 10)); }
float __truncdfbf2(double x) { return carry(narrow(x, 8, 7)); }
float __truncsfbf2(float x) { return carry(narrow((double)x, 8, 7)); }

float __extendhfsf2(float half) {
  uint32_t bits;
  memcpy(&bits, &half, sizeof bits);
  const uint32_t sign = (bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1F, mantissa = bits & 0x3FF;
  uint32_t wide;
  float result;
  if (exponent == 0) {
    /* A subnormal value is its mantissa times 2^-24. */
    result = (float)mantissa * 0x1p-24f;
    memcpy(&wide, &result, sizeof wide);
    wide |= sign;
  } else if (exponent == 0x1F) {
    wide = sign | 0x7F800000 | mantissa << 13;
  } else {
    wide = sign | (exponent + 112) << 23 | mantissa << 13;
  }
  memcpy(&result, &wide, sizeof result);
  return result;
}
