/*===- support.h - functions for generated code ----------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Functions that generated code calls. The compiler links an artifact with
 * those parts of this static library that it uses. The library needs only libc.
 * Sizes and addresses are uintptr_t, as `index` of MLIR is in generated code.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_SUPPORT_H
#define INGOT_SUPPORT_H

#include "ingot/abi/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Records the first failure of a run: its status and message. */
void ingot_support_fail(ingot_abi_call *call, int32_t status,
                        const char *message);

/** Records the first failure of a run, with `first` and `second` in place of
 *  {0} and {1} in the message. */
void ingot_support_fail_with(ingot_abi_call *call, int32_t status,
                             const char *message, int64_t first,
                             int64_t second);

/** Does nothing if `holds` is not 0. Otherwise ends the run with
 *  INGOT_ABI_RUNTIME_CHECK and does not return. `first` and `second` replace
 *  {0} and {1} in the message. Only for the thread that runs the body. */
void ingot_support_require(ingot_abi_call *call, uint32_t holds,
                           const char *message, int64_t first, int64_t second);

/** Runs `body` with a copy of the call and returns the run's status. The
 *  functions here work only with this copy, because they may stop the body
 *  early. During the run, the thread has the floating-point state of
 *  float_state.h. Memory that the body has not released is released at the end.
 */
int32_t ingot_support_run(ingot_abi_call *call,
                          void (*body)(ingot_abi_call *call));

/** Returns memory of the run, aligned to INGOT_ABI_ALIGNMENT. If the host has
 *  no memory, ends the run with INGOT_ABI_OUT_OF_MEMORY. If `node` is not null,
 *  the message begins with it. */
void *ingot_support_allocate(ingot_abi_call *call, uint64_t bytes,
                             const char *node);
/** Releases memory from ingot_support_allocate; not null. */
void ingot_support_release(ingot_abi_call *call, void *pointer);

/** Returns memory of `bytes` for output `index`. Uses the caller's buffer if it
 *  is large enough and aligned for the elements. Otherwise allocates memory,
 *  which is released at the end of the run. */
void *ingot_support_room(ingot_abi_call *call, uint64_t index, uint64_t bytes,
                         const char *node);

/** Functions for code that infers sizes. They report to the host which memory a
 *  run would allocate and release, but use no memory. `reserve` returns a value
 *  for `unreserve`. It ends the function if the run would lack memory.
 *  `unknown` reports that a size depends on data. */
uintptr_t ingot_support_reserve(ingot_abi_call *call, uintptr_t bytes);
void ingot_support_unreserve(ingot_abi_call *call, uintptr_t address);
void ingot_support_reserve_unknown(ingot_abi_call *call);

/** Writes the dims of output `index`, without elements. */
void ingot_support_set_dims(ingot_abi_call *call, uintptr_t index,
                            uintptr_t rank, uintptr_t dims);

/** Runs task(arg, i) for 0 <= i < count on the run's threads. */
void ingot_support_parallel(ingot_abi_call *call,
                            void (*task)(void *arg, int64_t index), void *arg,
                            int64_t count);

/** Returns how many of `pictures` images pass through a chain of layers
 *  together. The number is at most `per_thread` for each thread, and divides
 *  the images into chunks of about equal size. If the run has an observer, it
 *  is the number of all images. At least 1. */
uint64_t ingot_support_chunk(ingot_abi_call *call, uint64_t pictures,
                             uint64_t per_thread);

/** Passes output `index` of dynamic shape to the caller. Writes its dims. If
 *  the caller's buffer is large enough, also writes its elements. Elements
 *  smaller than a byte are packed. Copies nothing if the elements are already
 *  in the buffer. */
void ingot_support_store_output(ingot_abi_call *call, uintptr_t index,
                                uintptr_t rank, uintptr_t dims, uintptr_t data,
                                uintptr_t element_bits);

/** Writes the dims of output `index`. Returns its bytes, or UINT64_MAX if no
 *  memory can hold them. */
uint64_t ingot_support_output_bytes(ingot_abi_call *call, uintptr_t index,
                                    uintptr_t rank, uintptr_t dims,
                                    uintptr_t element_bits);

/** The strings of a model by index: string i occupies the bytes from offsets[i]
 *  up to offsets[i + 1]. Index 0 is the empty string. */
typedef struct ingot_support_dictionary {
  const char *text;
  const uint64_t *offsets; /**< count + 1 */
  /** Hash table of mask + 1 slots, which is a power of two. A slot contains an
   *  index plus 1, or 0 if it is free. A string is in the slot of its
   *  ingot_string_hash or in one of the next slots. Some slots are always free.
   */
  const uint32_t *slots;
  uint64_t mask;
  uint64_t count;
} ingot_support_dictionary;

/** Replaces the inputs and outputs of the run by its own. In them, strings are
 *  int32_t indices: indices of the dictionary, or new indices for other
 *  strings. Ends the run if offsets are outside of their text. */
void ingot_support_read_strings(ingot_abi_call *call,
                                const ingot_abi_artifact *artifact,
                                const ingot_support_dictionary *dictionary);
/** Reports the memory that ingot_support_read_strings would use. For code that
 *  infers sizes. */
void ingot_support_reserve_strings(ingot_abi_call *call,
                                   const ingot_abi_artifact *artifact,
                                   const ingot_support_dictionary *dictionary);
/** Allocates memory for the `count` indices of an output of strings. */
void ingot_support_make_strings(ingot_abi_call *call, uint64_t index,
                                uint64_t count);
/** Passes an output of strings to the caller, as ingot_support_store_output
 *  does for other types. */
void ingot_support_store_strings(ingot_abi_call *call, uintptr_t index,
                                 uintptr_t rank, uintptr_t dims, uintptr_t data,
                                 uintptr_t element_bits);

/** Tells the observer of a run that a layer has ended. The run must have an
 *  observer. Does not return if the run must stop. Only for the thread that
 *  runs the body. */
void ingot_support_layer_end(ingot_abi_call *call, uint64_t layer,
                             uint64_t flops, uint64_t bytes);

/** Passes a tensor to the observer of a run, if the run has one that observes
 *  tensors. `dims` and `strides` have `rank` elements. Does not return if the
 *  run must stop. Only for the thread that runs the body. */
void ingot_support_observe(ingot_abi_call *call, uint64_t tensor,
                           uint32_t dtype, uint32_t rank, const int64_t *dims,
                           const int64_t *strides, const void *data);

/** Asks the observer of a run if the run may continue. Does nothing without an
 *  observer. Does not return if the run must stop. Only for the thread that
 *  runs the body. */
void ingot_support_poll(ingot_abi_call *call);

/** Returns a new list of tensors, which is memory of the run. */
void *ingot_support_list(ingot_abi_call *call);

/** Appends a copy of a tensor of `rank` dims to the list. If its sizes differ
 *  from those of the other tensors in the list, ends the run with `message`. */
void ingot_support_append(ingot_abi_call *call, void *list,
                          uint64_t element_bytes, uint32_t rank,
                          const int64_t *dims, const int64_t *strides,
                          const void *data, const char *message);

/** Ends the list and returns its tensors one after the other in memory. The
 *  caller releases this memory with ingot_support_release. Sets `dims`, which
 *  has `rank` + 1 elements: the number of tensors, then their sizes. If the
 *  list is empty, negative sizes become 0. */
void *ingot_support_stack(ingot_abi_call *call, void *list, uint32_t rank,
                          int64_t *dims);

/** Returns the number of the body for the call's sizes. 0 is the general body.
 *  n is the body for the usual sizes of profile n - 1 of `artifact`. If no
 *  profile allows the sizes and the general body is not allowed either, fails
 *  the run and returns -1. */
int32_t ingot_support_choose_body(ingot_abi_call *call,
                                  const ingot_abi_artifact *artifact);

/** Returns 1 if the buffer of output `index` has room for `bytes`. Otherwise
 *  fails the run and returns 0. */
uint32_t ingot_support_has_room(ingot_abi_call *call, uint64_t index,
                                uint64_t bytes);

/** A loaded model with its own arena. The generated header of a model is based
 *  on it. It is for applications that link the artifact and do not have
 *  libingot. */
typedef struct ingot_support_model ingot_support_model;

/** Creates a model. If the weights are separate, `weights` and `weights_bytes`
 *  are the mapped file. Otherwise they are ignored. */
ingot_support_model *ingot_support_create(const ingot_abi_artifact *artifact,
                                          const void *weights,
                                          uint64_t weights_bytes,
                                          int32_t num_threads, char *error,
                                          uint64_t error_bytes);
/** Runs the model. Returns INGOT_ABI_BUSY if another thread is running it. */
int32_t ingot_support_call(ingot_support_model *model,
                           const ingot_abi_buffer *inputs,
                           const ingot_abi_buffer *outputs, char *error,
                           uint64_t error_bytes);
void ingot_support_destroy(ingot_support_model *model);

/** Arguments of ingot_support_create_on. `device` is "cpu", "cuda", "cuda:N" or
 *  "emulated"; null: the variable INGOT_DEVICE, or the best that there is. The
 *  others are those of ingot_support_create. */
typedef struct ingot_support_request {
  const ingot_abi_artifact *artifact;
  const char *device;
  const void *weights;
  uint64_t weights_bytes;
  int32_t num_threads;
} ingot_support_request;

/** The functions of models with code for GPUs. Each buffer may be in memory of
 *  the host or of the GPU. `call_on` returns when the outputs are complete.
 *  `start` returns when the work is in `stream`, or in the model's own queue if
 *  `stream` is null. `wait` waits for it and returns its status. */
ingot_support_model *
ingot_support_create_on(const ingot_support_request *request, char *error,
                        uint64_t error_bytes);
int32_t ingot_support_call_on(ingot_support_model *model,
                              const ingot_abi_buffer *inputs,
                              const ingot_abi_buffer *outputs, char *error,
                              uint64_t error_bytes);
int32_t ingot_support_start(ingot_support_model *model, void *stream,
                            const ingot_abi_buffer *inputs,
                            const ingot_abi_buffer *outputs, char *error,
                            uint64_t error_bytes);
int32_t ingot_support_wait(ingot_support_model *model, char *error,
                           uint64_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_SUPPORT_H */
