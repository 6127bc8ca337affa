/*===- profiles.c - selection of a body -----------------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "support.h"

#include "text.h"

static const ingot_abi_table *ranges_of(const ingot_abi_artifact *artifact,
                                        uint32_t profile) {
  const ingot_abi_shape_profile *row =
      ingot_abi_row(&artifact->shape_profiles, profile);
  return &row->ranges;
}

static int64_t size_of(const ingot_abi_call *call,
                       const ingot_abi_size_range *range) {
  return call->inputs[range->input].dims[range->dim];
}

static int takes(const ingot_abi_size_range *range, int64_t size) {
  return size >= range->min && size <= range->max &&
         size % range->multiple == 0;
}

/** Returns the first range that does not contain the call's sizes, or null. */
static const ingot_abi_size_range *find_outside(const ingot_abi_call *call,
                                                const ingot_abi_table *ranges) {
  for (uint32_t i = 0; i < ranges->count; ++i) {
    const ingot_abi_size_range *range = ingot_abi_row(ranges, i);
    if (!takes(range, size_of(call, range)))
      return range;
  }
  return NULL;
}

static int are_usual(const ingot_abi_call *call,
                     const ingot_abi_table *ranges) {
  int has_usual = 0;
  for (uint32_t i = 0; i < ranges->count; ++i) {
    const ingot_abi_size_range *range = ingot_abi_row(ranges, i);
    if (range->usual == INGOT_ABI_DYNAMIC)
      continue;
    has_usual = 1;
    if (size_of(call, range) != range->usual)
      return 0;
  }
  return has_usual;
}

/** Appends a text such as "input 'x' has 4096 in dimension 3, not 64 to 2048 in
 *  steps of 32". */
static void add_outside(ingot_support_text *text, const ingot_abi_call *call,
                        const ingot_abi_artifact *artifact,
                        const ingot_abi_size_range *range) {
  const ingot_abi_tensor *input =
      ingot_abi_row(&artifact->inputs, range->input);
  ingot_support_text_string(text, "input '");
  ingot_support_text_string(text, input->name);
  ingot_support_text_string(text, "' has ");
  ingot_support_text_number(text, size_of(call, range));
  ingot_support_text_string(text, " in dimension ");
  ingot_support_text_number(text, range->dim);
  ingot_support_text_string(text, ", not ");
  if (range->max == INT64_MAX) {
    ingot_support_text_string(text, "a multiple of ");
    ingot_support_text_number(text, range->multiple);
    return;
  }
  ingot_support_text_number(text, range->min);
  if (range->max == range->min)
    return;
  ingot_support_text_string(text, " to ");
  ingot_support_text_number(text, range->max);
  if (range->multiple == 1)
    return;
  ingot_support_text_string(text, " in steps of ");
  ingot_support_text_number(text, range->multiple);
}

int32_t ingot_support_choose_body(ingot_abi_call *call,
                                  const ingot_abi_artifact *artifact) {
  const uint32_t count = artifact->shape_profiles.count;
  int is_within = 0;
  for (uint32_t p = 0; p < count; ++p) {
    if (find_outside(call, ranges_of(artifact, p)) != NULL)
      continue;
    is_within = 1;
    if (are_usual(call, ranges_of(artifact, p)))
      return (int32_t)(p + 1);
  }
  if (is_within || artifact->takes_general)
    return 0;
  ingot_support_text text;
  ingot_support_text_begin(&text);
  for (uint32_t p = 0; p < count; ++p) {
    if (p != 0)
      ingot_support_text_string(&text, "; ");
    if (count != 1) {
      ingot_support_text_string(&text, "profile ");
      ingot_support_text_number(&text, p + 1);
      ingot_support_text_string(&text, ": ");
    }
    add_outside(&text, call, artifact,
                find_outside(call, ranges_of(artifact, p)));
  }
  ingot_support_fail(call, INGOT_ABI_INVALID_ARGUMENT, text.bytes);
  return -1;
}
