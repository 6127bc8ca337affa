//===- Values.cpp - elements of any type --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Values.h"

#include "client/Text.h"

#include <algorithm>
#include <functional>
#include <math.h>
#include <stdio.h>
#include <string.h>

using namespace ingot::tools;

static float fromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static uint32_t toBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 31)
    return fromBits(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) // Zero or subnormal: fraction * 2^-24.
    return (sign ? -1.0f : 1.0f) * float(fraction) * 0x1p-24f;
  return fromBits(sign | (exponent + 112) << 23 | fraction << 13);
}

/// Converts to half precision without rounding. Random numbers need no
/// rounding.
static uint16_t smallFloatToHalf(float value) {
  uint32_t bits = toBits(value);
  int exponent = int((bits >> 23) & 255) - 112;
  uint16_t sign = uint16_t(bits >> 16) & 0x8000;
  if (exponent <= 0)
    return sign;
  return uint16_t(sign | exponent << 10 | ((bits >> 13) & 1023));
}

uint64_t ingot::tools::elementCount(const Array &array) {
  if (array.dtype == INGOT_STRING)
    return array.data.size() / sizeof(int64_t) - 1;
  if (ingot_dtype_bits(array.dtype) % 8 == 0)
    return array.data.size() / ingot_dtype_size(array.dtype);
  uint64_t count = 1;
  for (int64_t dim : array.dims)
    count *= uint64_t(dim);
  return count;
}

namespace {
/// The layout of a float of eight bits or less, as element_types.inc defines
/// it.
struct TinyFloat {
  enum Ends { IEEE, FN, FNUZ, FINITE, SCALE };
  ingot_dtype dtype;
  int exponentBits, fractionBits, bias;
  Ends ends;
};
constexpr TinyFloat tinyFloats[] = {
#define INGOT_TINY_FLOAT(NAME, FORMAT, EXPONENT, FRACTION, BIAS, ENDS)         \
  {INGOT_##NAME, EXPONENT, FRACTION, BIAS, TinyFloat::ENDS},
#include "ingot/abi/element_types.inc"
};
} // namespace

static double readTiny(const TinyFloat &format, unsigned code) {
  unsigned magnitudeBits = unsigned(format.exponentBits + format.fractionBits);
  unsigned allOnes = (1u << magnitudeBits) - 1, magnitude = code & allOnes;
  bool isNegative = code >> magnitudeBits & 1;
  int exponent = int(magnitude >> format.fractionBits);
  unsigned fraction = magnitude & ((1u << format.fractionBits) - 1);
  bool isSpecial = exponent == (1 << format.exponentBits) - 1;
  if (format.ends == TinyFloat::SCALE)
    return isSpecial ? double(NAN) : ldexp(1, exponent - format.bias);
  if (format.ends == TinyFloat::IEEE && isSpecial)
    return fraction ? double(NAN) : isNegative ? -INFINITY : INFINITY;
  if ((format.ends == TinyFloat::FN && magnitude == allOnes) ||
      (format.ends == TinyFloat::FNUZ && isNegative && magnitude == 0))
    return NAN;
  double value = exponent
                     ? ldexp((1 << format.fractionBits) + fraction,
                             exponent - format.bias - format.fractionBits)
                     : ldexp(fraction, 1 - format.bias - format.fractionBits);
  return isNegative ? -value : value;
}

/// Returns the value of an element from its bits, for types that C lacks.
static double readCode(ingot_dtype dtype, unsigned code) {
  for (const TinyFloat &format : tinyFloats)
    if (format.dtype == dtype)
      return readTiny(format, code);
  unsigned bits = ingot_dtype_bits(dtype);
  bool isNegative =
      (dtype == INGOT_INT4 || dtype == INGOT_INT2) && code >> (bits - 1) & 1;
  return isNegative ? double(code) - double(1u << bits) : double(code);
}

/// Draws the bits of an element: a float in [-1, 1], or an integer 0 or 1.
static unsigned drawCode(ingot_dtype dtype, uint64_t random) {
  for (const TinyFloat &format : tinyFloats) {
    if (format.dtype != dtype)
      continue;
    unsigned one = unsigned(format.bias) << format.fractionBits;
    if (format.ends == TinyFloat::SCALE)
      return one - unsigned(random >> 61);
    unsigned code = unsigned((random >> 32) % (one + 1));
    // Not all formats have a negative zero, so give a zero no sign.
    unsigned sign = code ? unsigned(random & 1) : 0;
    return code | sign << (format.exponentBits + format.fractionBits);
  }
  return unsigned(random >> 63);
}

/// Returns true if readCode reads the elements of this type.
static bool isCoded(ingot_dtype dtype) {
  for (const TinyFloat &format : tinyFloats)
    if (format.dtype == dtype)
      return true;
  return ingot_dtype_bits(dtype) % 8 != 0;
}

namespace {

/// Reads and draws elements that are stored as T. There is one template per
/// kind in the list of element types. An element is drawn from 64 random bits:
/// a float in [-1, 1) with 23 exact fraction bits, or an integer 0 or 1.
template <typename T>
struct SIGNED {
  using Storage = T;
  static double read(T element) { return double(element); }
  static T draw(uint64_t bits) { return T(bits >> 63); }
};
template <typename T>
struct UNSIGNED : SIGNED<T> {};
template <typename T>
struct BOOL : SIGNED<T> {};
template <typename T>
struct FLOAT : SIGNED<T> {
  static T draw(uint64_t bits) { return T(float(bits >> 40) * 0x1p-23f - 1); }
};
template <typename T>
struct HALF {
  using Storage = T;
  static double read(T element) { return halfToFloat(element); }
  static T draw(uint64_t bits) {
    return smallFloatToHalf(FLOAT<float>::draw(bits));
  }
};
/// Never called, because isCoded is true for these types.
template <typename T>
struct TINY : SIGNED<T> {};
template <typename T>
struct BRAIN {
  using Storage = T;
  static double read(T element) { return fromBits(uint32_t(element) << 16); }
  static T draw(uint64_t bits) {
    return T(toBits(FLOAT<float>::draw(bits)) >> 16);
  }
};

} // namespace

/// Calls `visit` with the kind of `dtype`.
template <typename Visit>
static void withKind(ingot_dtype dtype, Visit visit) {
  switch (dtype) {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return visit(KIND<C_TYPE>());
#include "ingot/abi/element_types.inc"
  default:
    return;
  }
}

std::vector<double> ingot::tools::toDoubles(const Array &array) {
  std::vector<double> values(elementCount(array));
  if (isCoded(array.dtype)) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = readCode(array.dtype, packedElement(array, i));
    return values;
  }
  if (array.dtype == INGOT_STRING)
    for (size_t i = 0; i < values.size(); ++i)
      values[i] =
          double(std::hash<std::string_view>()(stringAt(array, i)) >> 11);
  withKind(array.dtype, [&](auto kind) {
    for (size_t i = 0; i < values.size(); ++i) {
      typename decltype(kind)::Storage element;
      memcpy(&element, &array.data[i * sizeof(element)], sizeof(element));
      values[i] = kind.read(element);
    }
  });
  return values;
}

void ingot::tools::fillRandom(Array &array, uint64_t seed) {
  // SplitMix64 is short, and gives equal numbers on every machine.
  uint64_t state = seed;
  auto next = [&] {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  next();
  if (isCoded(array.dtype)) {
    uint64_t bits = ingot_dtype_bits(array.dtype);
    std::fill(array.data.begin(), array.data.end(), 0);
    for (uint64_t i = 0, at = 0, e = elementCount(array); i < e; ++i) {
      unsigned code = drawCode(array.dtype, next());
      for (uint64_t bit = 0; bit < bits; ++bit, ++at)
        array.data[at / 8] |= (code >> bit & 1) << at % 8;
    }
    return;
  }
  withKind(array.dtype, [&](auto kind) {
    typename decltype(kind)::Storage element;
    for (size_t at = 0; at < array.data.size(); at += sizeof(element)) {
      element = kind.draw(next());
      memcpy(&array.data[at], &element, sizeof(element));
    }
  });
}

static Statistics summarizeStrings(const Array &array) {
  Statistics result;
  result.least = result.largest = result.mean = "-";
  const uint64_t count = elementCount(array);
  for (uint64_t i = 0; i < count && i < 4; ++i)
    result.first += (i ? ", " : "") +
                    formatJson(formatLine(std::string(stringAt(array, i)), 40));
  if (count > 4)
    result.first += ", ...";
  return result;
}

Statistics ingot::tools::summarize(const Array &array) {
  auto format = [](double value) {
    char text[32];
    snprintf(text, sizeof(text), "%.6g", value);
    return std::string(text);
  };
  Statistics result;
  if (array.dtype == INGOT_STRING)
    return summarizeStrings(array);
  std::vector<double> values = toDoubles(array);
  for (size_t i = 0; i < values.size() && i < 4; ++i)
    result.first += (i ? ", " : "") + format(values[i]);
  if (values.size() > 4)
    result.first += ", ...";
  result.firstNumbers.assign(
      values.begin(), values.begin() + std::min(values.size(), kMostFirst));
  double least = INFINITY, largest = -INFINITY, sum = 0;
  for (double value : values) {
    if (!isfinite(value)) {
      ++result.notNumbers;
      continue;
    }
    least = std::min(least, value);
    largest = std::max(largest, value);
    sum += value;
  }
  uint64_t numbers = values.size() - result.notNumbers;
  if (!numbers)
    return result.least = result.largest = result.mean = "-", result;
  result.leastNumber = least;
  result.largestNumber = largest;
  result.meanNumber = sum / double(numbers);
  result.least = format(least);
  result.largest = format(largest);
  result.mean = format(result.meanNumber);
  return result;
}
