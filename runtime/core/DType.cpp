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
  uint32_t size;
  const char *name;
};
constexpr DType dtypes[] = {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  {NUMBER, BYTES, TEXT},
#include "ingot/abi/element_types.inc"
};

#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  static_assert(sizeof(C_TYPE) == BYTES, TEXT);
#include "ingot/abi/element_types.inc"
} // namespace

namespace {
/// Bytes by number, which each run asks for each tensor.
struct Sizes {
  uint8_t bytes[32] = {};

  constexpr Sizes() {
    for (const DType &entry : dtypes)
      bytes[entry.value] = uint8_t(entry.size);
  }
};
constexpr Sizes sizes;
} // namespace

uint32_t ingot_dtype_size(ingot_dtype dtype) {
  return uint32_t(dtype) < sizeof(sizes.bytes) ? sizes.bytes[dtype] : 0;
}

const char *ingot_dtype_name(ingot_dtype dtype) {
  for (const DType &entry : dtypes)
    if (entry.value == dtype)
      return entry.name;
  return "unknown";
}
