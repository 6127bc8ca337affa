/*===- support.h - what generated code calls -------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A static library that the compiler links into an artifact, as far as the
 * artifact uses it. It needs libc only. Sizes and addresses are uintptr_t:
 * generated code has them as MLIR's `index`.
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

/** The same, with `first` and `second` in the place of {0} and {1}. */
void ingot_support_fail_with(ingot_abi_call *call, int32_t status,
                             const char *message, int64_t first,
                             int64_t second);

/** Ends the run with INGOT_ABI_RUNTIME_CHECK if `holds` is 0: then this does
 *  not return. {0} and {1} in the message stand for `first` and `second`. Only
 *  for the thread that runs the body. */
void ingot_support_require(ingot_abi_call *call, uint32_t holds,
                           const char *message, int64_t first, int64_t second);

/** Runs `body` with a copy of the call, in which alone the functions here work:
 *  they may stop it half-way. Returns the run's status. The thread's
 *  floating-point state is the run's own meanwhile, as float_state.h says, and
 *  memory that a body left is released. */
int32_t ingot_support_run(ingot_abi_call *call,
                          void (*body)(ingot_abi_call *call));

/** Returns memory of the run, INGOT_ABI_ALIGNMENT-aligned. If the host has
 *  none, the run ends with INGOT_ABI_OUT_OF_MEMORY and a message that begins
 *  with `node`, unless that is null. */
void *ingot_support_allocate(ingot_abi_call *call, uint64_t bytes,
                             const char *node);
/** Gives back what ingot_support_allocate returned; not null. */
void ingot_support_release(ingot_abi_call *call, void *pointer);

/** Memory for output `index`, of `bytes`: the caller's, which is as it should
 *  be aligned for its elements, where it has room; otherwise as
 *  ingot_support_allocate, and the run's end releases it. */
void *ingot_support_room(ingot_abi_call *call, uint64_t index, uint64_t bytes,
                         const char *node);

/** Tell the host, in a function that infers sizes, what a run would allocate
 *  and release: nothing is there. `reserve` ends the function where a run would
 *  end for want of memory; what it returns is for `unreserve`. `unknown` says
 *  that data decide. */
uintptr_t ingot_support_reserve(ingot_abi_call *call, uintptr_t bytes);
void ingot_support_unreserve(ingot_abi_call *call, uintptr_t address);
void ingot_support_reserve_unknown(ingot_abi_call *call);

/** Writes the dims of output `index`, without elements. */
void ingot_support_set_dims(ingot_abi_call *call, uintptr_t index,
                            uintptr_t rank, uintptr_t dims);

/** Runs task(arg, i) for 0 <= i < count, on the run's threads. */
void ingot_support_parallel(ingot_abi_call *call,
                            void (*task)(void *arg, int64_t index), void *arg,
                            int64_t count);

/** Returns how many of `pictures` go through a chain of layers together: at
 * most `per_thread` for each thread of the run, in chunks of about equal size;
 * all of them if the run has an observer. At least 1. */
uint64_t ingot_support_chunk(ingot_abi_call *call, uint64_t pictures,
                             uint64_t per_thread);

/** Hands output `index` of dynamic shape to the caller: writes its dims, and
 *  its elements, packed if they are of less than a byte, where the caller's
 *  buffer holds them, unless they were computed there. */
void ingot_support_store_output(ingot_abi_call *call, uintptr_t index,
                                uintptr_t rank, uintptr_t dims, uintptr_t data,
                                uintptr_t element_bits);

/** The strings that a model has, by number: string i is what stands from
 *  offsets[i] up to offsets[i + 1]. Number 0 is the empty string. */
typedef struct ingot_support_dictionary {
  const char *text;
  const uint64_t *offsets; /**< count + 1 */
  /** One more than a number, or 0, at the string's ingot_string_hash, or behind
   *  it; there are mask + 1, a power of two, and some are 0. */
  const uint32_t *slots;
  uint64_t mask;
  uint64_t count;
} ingot_support_dictionary;

/** Gives the run inputs and outputs of its own, in which inputs of strings are
 *  numbers of int32_t: those of the dictionary, and one behind them for each
 *  other string. The run ends where offsets are not within their text. */
void ingot_support_read_strings(ingot_abi_call *call,
                                const ingot_abi_artifact *artifact,
                                const ingot_support_dictionary *dictionary);
/** What it does where sizes are inferred. */
void ingot_support_reserve_strings(ingot_abi_call *call,
                                   const ingot_abi_artifact *artifact,
                                   const ingot_support_dictionary *dictionary);
/** Room for the `count` numbers of an output of strings. */
void ingot_support_make_strings(ingot_abi_call *call, uint64_t index,
                                uint64_t count);
/** What ingot_support_store_output does with numbers, for an output of strings.
 */
void ingot_support_store_strings(ingot_abi_call *call, uintptr_t index,
                                 uintptr_t rank, uintptr_t dims, uintptr_t data,
                                 uintptr_t element_bits);

/** Tells the observer of a run, which has one, that a layer has ended. Does not
 *  return if the run is to stop. Only for the thread that runs the body. */
void ingot_support_layer_end(ingot_abi_call *call, uint64_t layer,
                             uint64_t flops, uint64_t bytes);

/** Shows a tensor to the observer of a run, if it has one that wants to see
 *  it: `dims` and `strides` are of `rank` int64_t. Does not return if the run
 * is to stop. Only for the thread that runs the body. */
void ingot_support_observe(ingot_abi_call *call, uint64_t tensor,
                           uint32_t dtype, uint32_t rank, const int64_t *dims,
                           const int64_t *strides, const void *data);

/** Asks the observer of a run, if it has one, whether the run goes on; does not
 *  return if it is to stop. Only for the thread that runs the body. */
void ingot_support_poll(ingot_abi_call *call);

/** A new list of tensors. Lists are the run's, as its memory is. */
void *ingot_support_list(ingot_abi_call *call);

/** Copies a tensor of `rank` dims to the end of the list. All of one list have
 *  the same sizes; the run ends with `message` at another one. */
void ingot_support_append(ingot_abi_call *call, void *list,
                          uint64_t element_bytes, uint32_t rank,
                          const int64_t *dims, const int64_t *strides,
                          const void *data, const char *message);

/** Ends the list. Returns its tensors one behind the other, which are to be
 *  given back by ingot_support_release, and sets `dims`, one more than `rank`:
 *  how many there are, and their sizes. Where there are none, sizes that are
 *  negative become 0. */
void *ingot_support_stack(ingot_abi_call *call, void *list, uint32_t rank,
                          int64_t *dims);

/** Which body computes the call's sizes: 0 is for all, n for the usual sizes of
 *  profile n - 1 of `artifact`. Where no profile has the sizes, and others are
 *  not taken: -1, and the run has failed. */
int32_t ingot_support_choose_body(ingot_abi_call *call,
                                  const ingot_abi_artifact *artifact);

/** Whether output `index` has room for `bytes`; if not, the run has failed. */
uint32_t ingot_support_has_room(ingot_abi_call *call, uint64_t index,
                                uint64_t bytes);

/** What the functions of a model's generated header stand on: one loaded model
 *  with an arena of its own, for an application that links the artifact and
 *  has no libingot. */
typedef struct ingot_support_model ingot_support_model;

/** `weights` and `weights_bytes` are the mapped weights file of a model whose
 *  weights are separate; of other models they are ignored. */
ingot_support_model *ingot_support_create(const ingot_abi_artifact *artifact,
                                          const void *weights,
                                          uint64_t weights_bytes,
                                          int32_t num_threads, char *error,
                                          uint64_t error_bytes);
/** Returns INGOT_ABI_BUSY while another thread runs the model. */
int32_t ingot_support_call(ingot_support_model *model,
                           const ingot_abi_buffer *inputs,
                           const ingot_abi_buffer *outputs, char *error,
                           uint64_t error_bytes);
void ingot_support_destroy(ingot_support_model *model);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_SUPPORT_H */
