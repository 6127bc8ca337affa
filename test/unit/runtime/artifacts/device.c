/*===- device.c - copies x to y in any memory -------------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
/* Represents the code of a device: takes a stream, strides, and tensors in
 * memory that is not the host's (here it is). Reports its arguments in y: the
 * stream's number, the input's memory and device, the stride of its rows, and
 * an element behind that stride. */
#include "ingot/abi/artifact.h"

static const int64_t xDims[] = {2, 3};
static const int64_t yDims[] = {5};
static const char *const names[] = {"", ""};
static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_INT64, 2, xDims, names}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_INT64, 1, yDims, names}};

#define MODEL_VARIANT_FLAGS                                                    \
  (INGOT_ABI_VARIANT_STREAMS | INGOT_ABI_VARIANT_STRIDES)
#define MODEL_MEMORIES                                                         \
  (1u << INGOT_ABI_MEMORY_HOST | 1u << INGOT_ABI_MEMORY_CUDA)

static int32_t run(ingot_abi_call *call) {
  const ingot_abi_buffer *x = call->inputs;
  int64_t *y = call->outputs[0].data;
  int64_t step = x->strides ? x->strides[0] : x->dims[1];
  y[0] = (int64_t)(intptr_t)call->stream;
  y[1] = x->memory;
  y[2] = x->device;
  y[3] = step;
  y[4] = ((const int64_t *)x->data)[step];
  call->outputs[0].dims[0] = 5;
  return INGOT_ABI_OK;
}

#include "common.h"
