/*===- layers.c - a run of many layers that shows how far it got ------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
/* Runs like generated code, with the functions that the compiler links. x is
 * the address of two ints. The run counts its layers in the first, and in each
 * layer waits until the second is as large, so that a test controls it. */
#include "runtime/support/support.h"

#include <sched.h>

enum { LAYERS = 100 };

static const int64_t dims[] = {1};
static const char *const names[] = {""};
static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_UINT64, 1, dims, names}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_UINT64, 1, dims, names}};

static const char layerText[] = "wait";
static const ingot_abi_layer layers[LAYERS];
#define MODEL_LAYERS TABLE(layers), layerText, sizeof(layerText)

static void body(ingot_abi_call *call) {
  int *steps = *(int *const *)call->inputs[0].data;
  /* A run that stops does not release this. */
  ingot_support_allocate(call, 1000, NULL);
  for (int i = 0; i < LAYERS; ++i) {
    int now = __atomic_add_fetch(&steps[0], 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&steps[1], __ATOMIC_ACQUIRE) < now)
      sched_yield();
    if (call->observer)
      ingot_support_layer_end(call, (uint64_t)i, 0, 0);
  }
  *(uint64_t *)call->outputs[0].data = 42;
  call->outputs[0].dims[0] = 1;
}

static int32_t run(ingot_abi_call *call) {
  return ingot_support_run(call, body);
}

#include "common.h"
