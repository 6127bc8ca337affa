/*===- inference.h - what a model says of a run before it -------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_TEST_PROPERTY_INFERENCE_H
#define INGOT_TEST_PROPERTY_INFERENCE_H

#include "ingot/abi/artifact.h"

#include <stddef.h>

/* Of one thread's run: what it asked its host for and gave back, in order. */
void trace_begin(void);
void trace_allocate(const void *pointer, uint64_t bytes);
void trace_release(const void *pointer);

/* Compares what `code` infers at the sizes of `inputs`, of whose buffers only
 * the sizes are there, with the run that was traced: its status, the message
 * that it failed with, the sizes of its outputs, its demands. Null, or what
 * differs. */
const char *find_wrong_inference(const ingot_abi_artifact *artifact,
                                 const ingot_abi_variant *code,
                                 const ingot_abi_buffer *inputs,
                                 const ingot_abi_buffer *outputs, int status,
                                 const char *message);

#endif
