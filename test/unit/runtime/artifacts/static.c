/*===- static.c - y = w[i] * x[i] + b, all sizes fixed ----------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
/* With SEPARATE_WEIGHTS the weights are in a file. With a MODEL_* macro on the
 * command line, this is one of the artifacts that must be refused. */
#include "ingot/abi/artifact.h"

#include <stdlib.h>

static const int64_t xDims[] = {2, 3};
static const int64_t bDims[] = {1};
static const int64_t yDims[] = {2, 3};
static const char *const noNames[] = {"", ""};

static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_FLOAT, 2, xDims, noNames},
    {"b", INGOT_ABI_FLOAT, 1, bDims, noNames}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_FLOAT, 2, yDims, noNames}};

#ifdef SEPARATE_WEIGHTS
#define MODEL_WEIGHTS NULL
#define MODEL_WEIGHTS_BYTES 24
#define MODEL_SHA256 SEPARATE_WEIGHTS
#else
#ifndef WEIGHT_SIGN
#define WEIGHT_SIGN 1
#endif
static const float weights[6] = {WEIGHT_SIGN * 1, WEIGHT_SIGN * 2,
                                 WEIGHT_SIGN * 3, WEIGHT_SIGN * 4,
                                 WEIGHT_SIGN * 5, WEIGHT_SIGN * 6};
#define MODEL_WEIGHTS weights
#define MODEL_WEIGHTS_BYTES sizeof(weights)
#endif

/* The state shows to which load a run belongs. */
static int32_t load(ingot_abi_load *call) {
  float *sum = call->host->allocate(call->host->user, sizeof(float), 64);
  if (!sum)
    return INGOT_ABI_OUT_OF_MEMORY;
  *sum = 0;
  for (int i = 0; i < 6; ++i)
    *sum += ((const float *)call->weights)[i];
  call->state = sum;
  return INGOT_ABI_OK;
}

static void unload(const ingot_abi_host *host, void *state) {
  host->release(host->user, state);
}
#define MODEL_LOAD load
#define MODEL_UNLOAD unload
#define MODEL_ARENA_BYTES 4096

/* Two layers; the first is fused of two nodes. */
static const char layerText[] =
    "matmul\0elementwise\0mul\0scale\0add\0native\0loops\0"
    "native: is of f64";
static const ingot_abi_layer layers[] = {
    {.kind = 0,
     .nodes = 19,
     .num_nodes = 2,
     .backend = 33,
     .flops = 6,
     .bytes = 72},
    {.kind = 7, .nodes = 29, .num_nodes = 1, .backend = 40, .reason = 46}};
#define MODEL_LAYERS TABLE(layers), layerText, sizeof(layerText)

static int32_t end_layer(ingot_abi_call *call, uint64_t layer, uint64_t flops) {
  const ingot_abi_observer *observer = call->observer;
  return observer
             ? observer->layer_end(observer->user, layer, flops, 12 * flops)
             : INGOT_ABI_OK;
}

static void multiply(void *arg, int64_t i) {
  const ingot_abi_call *call = arg;
  float *arena = call->arena;
  arena[i] = ((const float *)call->weights)[i] *
             ((const float *)call->inputs[0].data)[i];
}

static int32_t run(ingot_abi_call *call) {
  const float *b = call->inputs[1].data;
  float *y = call->outputs[0].data;
  if (__builtin_fabsf(*(const float *)call->state) != 21)
    return INGOT_ABI_BACKEND_ERROR;
  call->host->parallel_for(call->host->user, multiply, call, 6);
  int32_t status = end_layer(call, 0, 6);
  if (status)
    return status;
  for (int i = 0; i < 6; ++i)
    y[i] = ((float *)call->arena)[i] + b[0];
  call->outputs[0].dims[0] = 2;
  call->outputs[0].dims[1] = 3;
  return end_layer(call, 1, 7);
}

#include "common.h"
