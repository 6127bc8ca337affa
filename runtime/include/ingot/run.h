/*===- ingot/run.h - run and profile models ------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_RUN_H
#define INGOT_RUN_H

#include "ingot/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Profiles -----------------------------------------------------------------*/

/** Times of the layers of a model. A run with the profile in its
 *  ingot_run_options adds its times. The clock is read once per layer. The runs
 *  may belong to any contexts of the model, but only one run may use the
 *  profile at a time. During a run, the functions here return INGOT_BUSY. A
 *  profile keeps its model alive. */
typedef struct ingot_profile ingot_profile;

typedef struct ingot_profile_options {
  uint32_t struct_size;
  uint32_t reserved0;
  /** Memory of the profile; null: malloc. */
  const ingot_allocator *allocator;
  uint64_t reserved[4];
} ingot_profile_options;
#define INGOT_PROFILE_OPTIONS_INIT                                             \
  {(uint32_t)sizeof(ingot_profile_options), 0, 0, {0, 0, 0, 0}}

/** Creates an empty profile. `options` may be null. Release it with
 *  ingot_profile_release. */
INGOT_API ingot_status
ingot_profile_create(ingot_model *model, const ingot_profile_options *options,
                     ingot_profile **profile, ingot_error *error);
/** Releases a profile. No run may be using it. */
INGOT_API void ingot_profile_release(ingot_profile *profile);

/** Times of a layer or of whole runs, over all successful runs. */
typedef struct ingot_profile_times {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t runs;
  uint64_t total_ns; /**< of all runs */
  uint64_t min_ns;
  uint64_t max_ns;
  uint64_t last_ns; /**< in the last run */
  /** Start in the last run, relative to the start of that run. */
  uint64_t last_start_ns;
  /** Values of the last run. For whole runs, sums over all layers. 0 if
   *  unknown. */
  uint64_t flops;
  uint64_t bytes;
} ingot_profile_times;
#define INGOT_PROFILE_TIMES_INIT                                               \
  {(uint32_t)sizeof(ingot_profile_times), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Clears all times. */
INGOT_API ingot_status ingot_profile_reset(ingot_profile *profile,
                                           ingot_error *error);
/** Returns the times of whole runs. A run lasts from the call of
 *  ingot_context_run to its end. */
INGOT_API ingot_status ingot_profile_run_get(ingot_profile *profile,
                                             ingot_profile_times *times,
                                             ingot_error *error);
/** Returns the times of a layer. The times of all layers add up to the time of
 *  the run, without the check of its arguments. */
INGOT_API ingot_status ingot_profile_layer_get(ingot_profile *profile,
                                               uint32_t layer,
                                               ingot_profile_times *times,
                                               ingot_error *error);

/* Contexts -----------------------------------------------------------------*/

/** Scratch memory and threads for one run at a time. If a second thread runs a
 *  context at the same time, it gets INGOT_BUSY. Create one context for each
 *  thread that runs. */
typedef struct ingot_context ingot_context;

typedef struct ingot_context_options {
  uint32_t struct_size;
  /** Maximum number of threads of one run, including the caller's. 0: all
   *  threads of the pool or executor. */
  uint32_t num_threads;
  /** Pool; null: the shared pool, unless there is an executor. */
  ingot_pool *pool;
  /** Executor; null: a pool. Invalid together with `pool`. */
  const ingot_executor *executor;
  /** Allocator for the context's memory; null: malloc. */
  const ingot_allocator *allocator;
  /** Scratch memory of the caller, 64-byte aligned, with at least
   *  ingot_model_info.arena_bytes. It must outlive the context. Null: the
   *  context allocates it. */
  void *arena;
  uint64_t arena_bytes;
  uint64_t reserved[4];
} ingot_context_options;
#define INGOT_CONTEXT_OPTIONS_INIT                                             \
  {(uint32_t)sizeof(ingot_context_options), 0, 0, 0, 0, 0, 0, {0, 0, 0, 0}}

/** Creates a context. `options` may be null. Release it with
 *  ingot_context_release. */
INGOT_API ingot_status
ingot_context_create(ingot_model *model, const ingot_context_options *options,
                     ingot_context **context, ingot_error *error);
/** Releases a context, which must not be running in another thread. Waits for a
 *  run that ingot_context_run_async has started. */
INGOT_API void ingot_context_release(ingot_context *context);

/** An input of a run. */
typedef struct ingot_input {
  uint32_t struct_size;
  ingot_dtype dtype;
  /** Name of the input; null: the input at this position. Either all inputs
   *  have names, or none. */
  const char *name;
  /** Elements, aligned to the element type; only read. n strings have n + 1
   *  int64_t offsets into `text`: string i occupies the bytes from offset i up
   *  to offset i + 1. A string may contain any bytes. */
  const void *data;
  uint64_t bytes; /**< must be exactly the size for `dims` */
  /** `rank` sizes. May be null with rank 0 if the model fixes all sizes. */
  const int64_t *dims;
  /** Strides in elements; null: dense and row-major. Code for CPUs accepts only
   *  null. */
  const int64_t *strides;
  uint32_t rank;
  ingot_memory memory; /**< code for CPUs accepts INGOT_MEMORY_HOST only */
  uint32_t device;     /**< number of the GPU that owns the memory, which must
                            be the model's; 0 for the host */
  uint32_t reserved0;
  /** Bytes of strings, in host memory; null for other types. Only read. */
  const char *text;
  uint64_t text_bytes;
} ingot_input;
#define INGOT_INPUT_INIT                                                       \
  {(uint32_t)sizeof(ingot_input), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** An output of a run. */
typedef struct ingot_output {
  uint32_t struct_size;
  ingot_dtype dtype;
  /** Name of the output; null: the output at this position. Either all outputs
   *  have names, or none. */
  const char *name;
  /** Room for elements, aligned to the element type. n strings need room for n
   *  + 1 offsets into `text`; the first offset will be 0. */
  void *data;
  uint64_t bytes; /**< room at `data`; more than needed is fine */
  /** Receives the `rank` sizes. May be null with rank 0 if the model fixes all
   *  sizes. */
  int64_t *dims;
  /** Strides in elements; null: dense and row-major. Code for CPUs accepts only
   *  null. */
  const int64_t *strides;
  uint32_t rank;
  ingot_memory memory; /**< code for CPUs accepts INGOT_MEMORY_HOST only */
  uint32_t device;     /**< number of the GPU that owns the memory, which must
                            be the model's; 0 for the host */
  uint32_t reserved0;
  /** Room for the bytes of strings, in host memory; null for other types. */
  char *text;
  uint64_t text_bytes;
  /** Receives the bytes of the strings. If there is too little room, receives
   *  the required bytes, or 0 if they are not known yet. May be null. */
  uint64_t *text_used;
} ingot_output;
#define INGOT_OUTPUT_INIT                                                      \
  {(uint32_t)sizeof(ingot_output), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Returns a dense input in host memory. */
static inline ingot_input ingot_input_make(const void *data, uint64_t bytes,
                                           const int64_t *dims, uint32_t rank,
                                           ingot_dtype dtype) {
  ingot_input input = INGOT_INPUT_INIT;
  input.dtype = dtype;
  input.data = data;
  input.bytes = bytes;
  input.dims = dims;
  input.rank = rank;
  return input;
}

/** Returns a dense output in host memory. */
static inline ingot_output ingot_output_make(void *data, uint64_t bytes,
                                             int64_t *dims, uint32_t rank,
                                             ingot_dtype dtype) {
  ingot_output output = INGOT_OUTPUT_INIT;
  output.dtype = dtype;
  output.data = data;
  output.bytes = bytes;
  output.dims = dims;
  output.rank = rank;
  return output;
}

/** Returns a dense input of strings. `offsets` has num_strings + 1 elements. */
static inline ingot_input
ingot_input_strings(const int64_t *offsets, uint64_t num_strings,
                    const char *text, uint64_t text_bytes, const int64_t *dims,
                    uint32_t rank) {
  ingot_input input =
      ingot_input_make(offsets, (num_strings + 1) * sizeof(int64_t), dims, rank,
                       INGOT_STRING);
  input.text = text;
  input.text_bytes = text_bytes;
  return input;
}

/** Returns a dense output of strings, with room for num_strings + 1 offsets and
 *  for text_bytes bytes. */
static inline ingot_output
ingot_output_strings(int64_t *offsets, uint64_t num_strings, char *text,
                     uint64_t text_bytes, uint64_t *text_used, int64_t *dims,
                     uint32_t rank) {
  ingot_output output =
      ingot_output_make(offsets, (num_strings + 1) * sizeof(int64_t), dims,
                        rank, INGOT_STRING);
  output.text = text;
  output.text_bytes = text_bytes;
  output.text_used = text_used;
  return output;
}

/** A request to end runs early. Thread-safe. Any number of runs may share a
 *  cancellation. It must outlive them. */
typedef struct ingot_cancellation ingot_cancellation;

/** Creates a cancellation. Release it with ingot_cancellation_release. */
INGOT_API ingot_status
ingot_cancellation_create(ingot_cancellation **cancellation,
                          ingot_error *error);
INGOT_API void ingot_cancellation_release(ingot_cancellation *cancellation);
/** Ends the runs that use this cancellation with INGOT_CANCELLED. A current run
 *  ends after its current layer, a later run at its start. A model without
 *  layers (ingot_model_info.num_layers is 0) checks only at the start. May be
 *  called from any thread and from a signal handler. */
INGOT_API void ingot_cancellation_request(ingot_cancellation *cancellation);

/** An inner tensor of a run, in host memory. Valid only during the callback. */
typedef struct ingot_tensor_view {
  uint32_t struct_size;
  ingot_dtype dtype;
  const void *data;
  const int64_t *dims;    /**< `rank` sizes */
  const int64_t *strides; /**< `rank` steps in elements */
  uint32_t rank;
  uint32_t reserved0;
} ingot_tensor_view;

/** Receives tensor `tensor` of a model that was compiled to report its tensors.
 *  Called on the thread that runs, as soon as the tensor is complete. Returns
 *  INGOT_OK to continue. Any other status ends the run with this status. */
typedef ingot_status (*ingot_observe_fn)(void *user, uint64_t tensor,
                                         const ingot_tensor_view *view);

/** Options of one run. A member that is zero has no effect. */
typedef struct ingot_run_options {
  uint32_t struct_size;
  uint32_t reserved0;
  /** Queue of the device for the run's work: a CUstream of the device's primary
   *  context, which does not capture a graph. The run's work follows the work
   *  that is in the queue already. Null: a queue of the context. Code for CPUs
   *  accepts only null. */
  void *stream;
  const ingot_cancellation *cancellation;
  /** Profile of the model. It receives the times of this run. */
  ingot_profile *profile;
  /** Receives the tensors that the model reports; most models report none. */
  ingot_observe_fn observe;
  void *observe_user;
  uint64_t reserved[2];
} ingot_run_options;
#define INGOT_RUN_OPTIONS_INIT                                                 \
  {(uint32_t)sizeof(ingot_run_options), 0, 0, 0, 0, 0, 0, {0, 0}}

/** Runs the model once. All inputs and outputs must be given. Outputs must not
 *  overlap each other or an input. `options` may be null.
 *
 *  After INGOT_BUFFER_TOO_SMALL, the dims of all outputs contain the required
 *  sizes. A size that is not known yet is INGOT_ABI_DYNAMIC. `text_used`
 *  contains the required bytes of strings. Provide more room and run again. The
 *  data of outputs without enough room is unchanged. Other outputs may have
 *  been computed.
 *
 *  After other failures the dims are unchanged. The data of outputs is
 *  unchanged, too, unless the running code failed (INGOT_RUNTIME_CHECK,
 *  INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY, INGOT_CANCELLED). Then a part of
 *  the data may be written. If offsets of input strings exceed their text, the
 *  run fails with INGOT_INVALID_ARGUMENT.
 *
 *  A run allocates no memory if a recent run of the context had equal shapes.
 */
INGOT_API ingot_status ingot_context_run(ingot_context *context,
                                         const ingot_input *inputs,
                                         uint32_t num_inputs,
                                         const ingot_output *outputs,
                                         uint32_t num_outputs,
                                         const ingot_run_options *options,
                                         ingot_error *error);

/** Starts a run and may return before its work on the GPU is done. Each start
 *  that succeeds needs a call of ingot_context_wait. Until then, other runs of
 *  the context fail with INGOT_BUSY, and the memory of inputs and outputs must
 *  stay as it is. If the start fails, there is no run to wait for.
 *
 *  The dims of outputs are written when the function returns. Copies from and
 *  to memory of the host return early only if the memory is from
 *  ingot_memory_allocate, or pinned in another way. Operations that the GPU
 *  does not compute make the function wait for their inputs. Code for CPUs
 *  returns when the run is done. A profile is refused. */
INGOT_API ingot_status ingot_context_run_async(
    ingot_context *context, const ingot_input *inputs, uint32_t num_inputs,
    const ingot_output *outputs, uint32_t num_outputs,
    const ingot_run_options *options, ingot_error *error);

/** Waits for the run that ingot_context_run_async has started, and returns its
 *  status. Any thread may call it, but only one at a time. Returns INGOT_OK if
 *  there is nothing to wait for. */
INGOT_API ingot_status ingot_context_wait(ingot_context *context,
                                          ingot_error *error);

/** Returns the maximum number of threads that a run of this context uses. */
INGOT_API uint32_t ingot_context_thread_count(const ingot_context *context);

/** Returns memory that is kept for later runs to the allocator, except for the
 *  arena. Releases all memory of the context on a GPU. Does nothing while the
 *  context runs. */
INGOT_API void ingot_context_trim(ingot_context *context);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_RUN_H */
