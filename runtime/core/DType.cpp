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
    {INGOT_FLOAT, 4, "float32"},   {INGOT_UINT8, 1, "uint8"},
    {INGOT_INT8, 1, "int8"},       {INGOT_UINT16, 2, "uint16"},
    {INGOT_INT16, 2, "int16"},     {INGOT_INT32, 4, "int32"},
    {INGOT_INT64, 8, "int64"},     {INGOT_BOOL, 1, "bool"},
    {INGOT_FLOAT16, 2, "float16"}, {INGOT_DOUBLE, 8, "float64"},
    {INGOT_UINT32, 4, "uint32"},   {INGOT_UINT64, 8, "uint64"},
    {INGOT_BFLOAT16, 2, "bfloat16"},
};
} // namespace

uint32_t ingot_dtype_size(ingot_dtype dtype) {
  for (const DType &entry : dtypes)
    if (entry.value == dtype)
      return entry.size;
  return 0;
}

const char *ingot_dtype_name(ingot_dtype dtype) {
  for (const DType &entry : dtypes)
    if (entry.value == dtype)
      return entry.name;
  return "unknown";
}
