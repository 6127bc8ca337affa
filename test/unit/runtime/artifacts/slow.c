/*===- slow.c - a run that waits until the test lets it end -----------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
/* x[0] is the address of two ints. The run sets the first and waits for the
 * second, so that a test can examine a context while it runs. */
#include "ingot/abi/artifact.h"

#include <sched.h>

static const int64_t dims[] = {1};
static const char *const names[] = {""};
static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_UINT64, 1, dims, names}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_UINT64, 1, dims, names}};

static int32_t run(ingot_abi_call *call) {
  int *flags = *(int *const *)call->inputs[0].data;
  __atomic_store_n(&flags[0], 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&flags[1], __ATOMIC_ACQUIRE))
    sched_yield();
  *(uint64_t *)call->outputs[0].data = 42;
  call->outputs[0].dims[0] = 1;
  return INGOT_ABI_OK;
}

#include "common.h"
