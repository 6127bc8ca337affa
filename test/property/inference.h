/*===- inference.h - checks inference against runs --------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_TEST_PROPERTY_INFERENCE_H
#define INGOT_TEST_PROPERTY_INFERENCE_H

#include "ingot/abi/artifact.h"

#include <stddef.h>

/* Trace of one thread's run: requests and releases of host memory, in order. */
void trace_begin(void);
void trace_allocate(const void *pointer, uint64_t bytes);
void trace_release(const void *pointer);

/* Compares inference at the sizes of `inputs` with the traced run. Only the
 * sizes in these buffers are valid. Compares status, error message, sizes of
 * outputs and requested memory. Returns the difference, or null. */
const char *find_wrong_inference(const ingot_abi_artifact *artifact,
                                 const ingot_abi_variant *code,
                                 const ingot_abi_buffer *inputs,
                                 const ingot_abi_buffer *outputs, int status,
                                 const char *message);

#endif
