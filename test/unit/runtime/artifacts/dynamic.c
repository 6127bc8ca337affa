/*===- dynamic.c - the positive elements of x, n of them --------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "ingot/abi/artifact.h"

#include <stdio.h>
#include <string.h>

static const int64_t xDims[] = {INGOT_ABI_DYNAMIC, 4};
static const char *const xNames[] = {"batch", ""};
static const int64_t yDims[] = {INGOT_ABI_DYNAMIC};
static const char *const yNames[] = {"positive"};

static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_FLOAT, 2, xDims, xNames}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_FLOAT, 1, yDims, yNames},
    {"count", INGOT_ABI_INT64, 0, NULL, NULL}};

/* A NaN is "bad data", which tests a failure of running code. The failing run
 * does not release its temporary memory. */
static int32_t run(ingot_abi_call *call) {
  int64_t count = call->inputs[0].dims[0] * 4, found = 0;
  const float *x = call->inputs[0].data;
  float *kept = call->host->allocate(call->host->user,
                                     (uint64_t)count * sizeof(float), 64);
  if (!kept)
    return INGOT_ABI_OUT_OF_MEMORY;
  if ((uintptr_t)kept % 64)
    return INGOT_ABI_BACKEND_ERROR;
  for (int64_t i = 0; i < count; ++i) {
    if (x[i] != x[i]) {
      snprintf(call->error, call->error_bytes,
               "NonZero 'pick': element %lld is not a number", (long long)i);
      return INGOT_ABI_RUNTIME_CHECK;
    }
    if (x[i] > 0)
      kept[found++] = x[i];
  }
  call->outputs[0].dims[0] = found;
  uint64_t bytes = (uint64_t)found * sizeof(float);
  int32_t status = INGOT_ABI_BUFFER_TOO_SMALL;
  if (bytes <= call->outputs[0].bytes) {
    if (bytes)
      memcpy(call->outputs[0].data, kept, bytes);
    *(int64_t *)call->outputs[1].data = found;
    status = INGOT_ABI_OK;
  }
  call->host->release(call->host->user, kept);
  return status;
}

#include "common.h"
