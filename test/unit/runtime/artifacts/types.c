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

#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  {"in/" TEXT, NUMBER, 2, dims, names},
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  {"in/" TEXT, NUMBER, 2, dims, names},
static const ingot_abi_tensor inputs[] = {
#include "ingot/abi/element_types.inc"
};
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  {"out/" TEXT, NUMBER, 2, dims, names},
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  {"out/" TEXT, NUMBER, 2, dims, names},
static const ingot_abi_tensor outputs[] = {
#include "ingot/abi/element_types.inc"
};

static int32_t run(ingot_abi_call *call) {
  int i = 0;
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  memcpy(call->outputs[i].data, call->inputs[i].data, 4 * BYTES);              \
  call->outputs[i].dims[0] = call->outputs[i].dims[1] = 2;                     \
  ++i;
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  memcpy(call->outputs[i].data, call->inputs[i].data, 4 * BITS / 8);           \
  call->outputs[i].dims[0] = call->outputs[i].dims[1] = 2;                     \
  ++i;
#include "ingot/abi/element_types.inc"
  return INGOT_ABI_OK;
}

#include "common.h"
