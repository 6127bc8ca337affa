//===- DType.cpp - element types ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ingot/ingot.h"

namespace {
struct DType {
  ingot_dtype value;
  uint32_t bits;
  const char *name;
};
constexpr DType dtypes[] = {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  {NUMBER, 8 * BYTES, TEXT},
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS) {NUMBER, BITS, TEXT},
// The elements of a string tensor are offsets.
#define INGOT_STRING_TYPE(NAME, NUMBER, TEXT)                                  \
  {NUMBER, 8 * sizeof(int64_t), TEXT},
#include "ingot/abi/element_types.inc"
};

#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  static_assert(sizeof(C_TYPE) == BYTES, TEXT);
#include "ingot/abi/element_types.inc"
} // namespace

namespace {
/// Bits of an element by type. This is a table, because each run reads it for
/// each tensor.
struct Sizes {
  uint8_t bits[32] = {};

  constexpr Sizes() {
    for (const DType &entry : dtypes)
      bits[entry.value] = uint8_t(entry.bits);
  }
};
constexpr Sizes sizes;
} // namespace

uint32_t ingot_dtype_bits(ingot_dtype dtype) {
  return uint32_t(dtype) < sizeof(sizes.bits) ? sizes.bits[dtype] : 0;
}

uint32_t ingot_dtype_size(ingot_dtype dtype) {
  return (ingot_dtype_bits(dtype) + 7) / 8;
}

const char *ingot_dtype_name(ingot_dtype dtype) {
  for (const DType &entry : dtypes)
    if (entry.value == dtype)
      return entry.name;
  return "unknown";
}
