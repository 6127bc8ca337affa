/*===- inferring.c - n numbers from n to 1, by a walk through memory --------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A run allocates and releases memory, with sizes and order that depend on n.
 * If n is 13, sizes depend on data; 17 is an invalid n.
 *===----------------------------------------------------------------------===*/
#include "ingot/abi/artifact.h"

#include <stdio.h>
#include <string.h>

static const int64_t dims[] = {INGOT_ABI_DYNAMIC};
static const char *const xNames[] = {"n"};
static const char *const yNames[] = {""};

static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_FLOAT, 1, dims, xNames}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_FLOAT, 1, dims, yNames}};

#define PIECES 8

static int32_t walk(ingot_abi_call *call, int touches) {
  const ingot_abi_host *host = call->host;
  void *pieces[PIECES] = {0};
  int64_t n = call->inputs[0].dims[0];
  if (n == 17) {
    snprintf(call->error, call->error_bytes, "node 'walk': n is 17");
    return INGOT_ABI_RUNTIME_CHECK;
  }
  uint64_t state = (uint64_t)n * 2654435761u + 1;
  for (int step = 0; step < 40; ++step) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    void **piece = &pieces[(state >> 33) % PIECES];
    if (*piece) {
      host->release(host->user, *piece);
      *piece = NULL;
      continue;
    }
    uint64_t bytes = (state >> 40) % 3 ? (state >> 43) % 1000
                                       : (state >> 43) % 100000;
    *piece = host->allocate(host->user, bytes, INGOT_ABI_ALIGNMENT);
    if (!*piece)
      return INGOT_ABI_OUT_OF_MEMORY;
    if (touches)
      memset(*piece, 0xff, bytes);
  }
  for (int i = 0; i < PIECES; ++i)
    if (pieces[i])
      host->release(host->user, pieces[i]);
  call->outputs[0].dims[0] = n;
  return INGOT_ABI_OK;
}

static int32_t run(ingot_abi_call *call) {
  int32_t status = walk(call, 1);
  if (status != INGOT_ABI_OK)
    return status;
  int64_t n = call->inputs[0].dims[0];
  if (call->outputs[0].bytes < (uint64_t)n * sizeof(float))
    return INGOT_ABI_BUFFER_TOO_SMALL;
  for (int64_t i = 0; i < n; ++i)
    ((float *)call->outputs[0].data)[i] = (float)(n - i);
  return INGOT_ABI_OK;
}

static int32_t infer(ingot_abi_call *call) {
  if (call->inputs[0].dims[0] == 13)
    call->host->allocate(call->host->user, UINT64_MAX, INGOT_ABI_ALIGNMENT);
  return walk(call, 0);
}

#define MODEL_INFER infer
#define MODEL_ARENA_BYTES 256
#include "common.h"
