//===- Values.cpp - elements of any type --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Values.h"

#include <algorithm>
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

/// Truncates; the random numbers it serves need no rounding.
static uint16_t smallFloatToHalf(float value) {
  uint32_t bits = toBits(value);
  int exponent = int((bits >> 23) & 255) - 112;
  uint16_t sign = uint16_t(bits >> 16) & 0x8000;
  if (exponent <= 0)
    return sign;
  return uint16_t(sign | exponent << 10 | ((bits >> 13) & 1023));
}

uint64_t ingot::tools::elementCount(const Array &array) {
  return array.data.size() / ingot_dtype_size(array.dtype);
}

namespace {

/// What an element that is stored as T is, and one that is drawn from 64 random
/// bits: a float in [-1, 1), which 23 bits behind the point are exact in, or an
/// integer that is 0 or 1. Each kind of the list of element types has one.
template <typename T> struct SIGNED {
  using Storage = T;
  static double read(T element) { return double(element); }
  static T draw(uint64_t bits) { return T(bits >> 63); }
};
template <typename T> struct UNSIGNED : SIGNED<T> {};
template <typename T> struct BOOL : SIGNED<T> {};
template <typename T> struct FLOAT : SIGNED<T> {
  static T draw(uint64_t bits) { return T(float(bits >> 40) * 0x1p-23f - 1); }
};
template <typename T> struct HALF {
  using Storage = T;
  static double read(T element) { return halfToFloat(element); }
  static T draw(uint64_t bits) {
    return smallFloatToHalf(FLOAT<float>::draw(bits));
  }
};
template <typename T> struct BRAIN {
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
  // SplitMix64: short, and the same on every machine.
  uint64_t state = seed;
  auto next = [&] {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  next();
  withKind(array.dtype, [&](auto kind) {
    typename decltype(kind)::Storage element;
    for (size_t at = 0; at < array.data.size(); at += sizeof(element)) {
      element = kind.draw(next());
      memcpy(&array.data[at], &element, sizeof(element));
    }
  });
}

Statistics ingot::tools::summarize(const Array &array) {
  auto format = [](double value) {
    char text[32];
    snprintf(text, sizeof(text), "%.6g", value);
    return std::string(text);
  };
  Statistics result;
  std::vector<double> values = toDoubles(array);
  for (size_t i = 0; i < values.size() && i < 4; ++i)
    result.first += (i ? ", " : "") + format(values[i]);
  if (values.size() > 4)
    result.first += ", ...";
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
  result.least = format(least);
  result.largest = format(largest);
  result.mean = format(sum / double(numbers));
  return result;
}
