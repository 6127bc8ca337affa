/*===- failing_load.c - an artifact whose load step fails -------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "ingot/abi/artifact.h"

#include <stdio.h>

static const int64_t dims[] = {1};
static const char *const names[] = {""};
static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_FLOAT, 1, dims, names}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_FLOAT, 1, dims, names}};

static int32_t load(ingot_abi_load *call) {
  snprintf(call->error, call->error_bytes,
           "Conv 'stem': could not create a primitive");
  return INGOT_ABI_BACKEND_ERROR;
}
static void unload(const ingot_abi_host *host, void *state) {
  (void)host;
  (void)state;
  __builtin_trap(); /* Nothing was loaded. */
}
#define MODEL_LOAD load
#define MODEL_UNLOAD unload

static int32_t run(ingot_abi_call *call) {
  (void)call;
  return INGOT_ABI_OK;
}

#include "common.h"
