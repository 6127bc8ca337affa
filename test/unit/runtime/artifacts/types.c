/*===- types.c - copies a tensor of each element type -----------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "ingot/abi/artifact.h"

#include <string.h>

static const int64_t dims[] = {2, 2};
static const char *const names[] = {"", ""};

#define EACH_TYPE(X)                                                           \
  X(float32, INGOT_ABI_FLOAT, 4)                                               \
  X(uint8, INGOT_ABI_UINT8, 1)                                                 \
  X(int8, INGOT_ABI_INT8, 1)                                                   \
  X(uint16, INGOT_ABI_UINT16, 2)                                               \
  X(int16, INGOT_ABI_INT16, 2)                                                 \
  X(int32, INGOT_ABI_INT32, 4)                                                 \
  X(int64, INGOT_ABI_INT64, 8)                                                 \
  X(bool, INGOT_ABI_BOOL, 1)                                                   \
  X(float16, INGOT_ABI_FLOAT16, 2)                                             \
  X(float64, INGOT_ABI_DOUBLE, 8)                                              \
  X(uint32, INGOT_ABI_UINT32, 4)                                               \
  X(uint64, INGOT_ABI_UINT64, 8)                                               \
  X(bfloat16, INGOT_ABI_BFLOAT16, 2)

static const ingot_abi_tensor inputs[] = {
#define INPUT(NAME, DTYPE, SIZE) {"in/" #NAME, DTYPE, 2, dims, names},
    EACH_TYPE(INPUT)};
static const ingot_abi_tensor outputs[] = {
#define OUTPUT(NAME, DTYPE, SIZE) {"out/" #NAME, DTYPE, 2, dims, names},
    EACH_TYPE(OUTPUT)};

static int32_t run(ingot_abi_call *call) {
  int i = 0;
#define COPY(NAME, DTYPE, SIZE)                                                \
  memcpy(call->outputs[i].data, call->inputs[i].data, 4 * SIZE);               \
  call->outputs[i].dims[0] = call->outputs[i].dims[1] = 2;                     \
  ++i;
  EACH_TYPE(COPY)
  return INGOT_ABI_OK;
}

#include "common.h"
