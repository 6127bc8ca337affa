/*===- strings.c - joins two lists of strings ------------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
/* Runs like generated code, with the functions that the compiler links. */
#include "runtime/support/support.h"

#include <string.h>

static const int64_t open[] = {INGOT_ABI_DYNAMIC}, two[] = {2};
static const char *const names[] = {""};
static const ingot_abi_tensor inputs[] = {
    {"a", INGOT_ABI_STRING, 1, open, names},
    {"b", INGOT_ABI_STRING, 1, two, names}};
static const ingot_abi_tensor outputs[] = {
    {"joined", INGOT_ABI_STRING, 1, open, names},
    {"first", INGOT_ABI_STRING, 1, two, names}};

static const ingot_abi_artifact artifact;

static const uint64_t offsets[] = {0, 0};
static const uint32_t slots[] = {0};
static const ingot_support_dictionary dictionary = {"", offsets, slots, 0, 0};

static void body(ingot_abi_call *call) {
  int32_t joined[64];
  call->outputs[1].dims[0] = 2;
  ingot_support_read_strings(call, &artifact, &dictionary);
  ingot_support_make_strings(call, 1, 2);
  const int64_t count = call->inputs[0].dims[0], total = count + 2;
  memcpy(joined, call->inputs[0].data, (size_t)count * sizeof *joined);
  memcpy(joined + count, call->inputs[1].data, 2 * sizeof *joined);
  memcpy(call->outputs[1].data, joined, 2 * sizeof *joined);
  ingot_support_store_strings(call, 0, 1, (uintptr_t)&total, (uintptr_t)joined,
                              32);
  ingot_support_store_strings(call, 1, 1, (uintptr_t)call->outputs[1].dims,
                              (uintptr_t)call->outputs[1].data, 32);
}

static int32_t run(ingot_abi_call *call) {
  return ingot_support_run(call, body);
}

#include "common.h"
