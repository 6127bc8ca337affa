/*===- ingot/run.h - run and profile models ------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which says what holds for all of it.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_RUN_H
#define INGOT_RUN_H

#include "ingot/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Profiles -----------------------------------------------------------------*/

/** Times of the layers of a model, taken in the runs that are given it in their
 *  ingot_run_options: the clock is read once a layer. Of any contexts of the
 *  model, but one run at a time; the functions here report INGOT_BUSY
 *  meanwhile. Keeps its model alive. */
typedef struct ingot_profile ingot_profile;

typedef struct ingot_profile_options {
  uint32_t struct_size;
  uint32_t reserved0;
  /** Null: malloc. */
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
/** Must not be called while a run has it. */
INGOT_API void ingot_profile_release(ingot_profile *profile);

/** How long something took, over the runs that succeeded. */
typedef struct ingot_profile_times {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t runs;
  uint64_t total_ns; /**< of all runs */
  uint64_t min_ns;
  uint64_t max_ns;
  uint64_t last_ns; /**< in the last run */
  /** When it began in the last run, from the start of that run. */
  uint64_t last_start_ns;
  /** Of the last run, a sum over all layers for a whole run; 0 if unknown. */
  uint64_t flops;
  uint64_t bytes;
} ingot_profile_times;
#define INGOT_PROFILE_TIMES_INIT                                               \
  {(uint32_t)sizeof(ingot_profile_times), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Forgets all times taken. */
INGOT_API ingot_status ingot_profile_reset(ingot_profile *profile,
                                           ingot_error *error);
/** Times of whole runs, from the call of ingot_context_run to its end. */
INGOT_API ingot_status ingot_profile_run_get(ingot_profile *profile,
                                             ingot_profile_times *times,
                                             ingot_error *error);
/** Times of a layer of the model. Those of all layers add up to the time of
 *  the run, but for checking its arguments. */
INGOT_API ingot_status ingot_profile_layer_get(ingot_profile *profile,
                                               uint32_t layer,
                                               ingot_profile_times *times,
                                               ingot_error *error);

/* Contexts -----------------------------------------------------------------*/

/** What one run at a time needs: scratch memory and threads. Not for use from
 *  two threads at once (a second run reports INGOT_BUSY); make one context for
 *  each thread that runs. */
typedef struct ingot_context ingot_context;

typedef struct ingot_context_options {
  uint32_t struct_size;
  /** Threads of one run, the caller's included; 0: all of the pool's or
   *  executor's, which is also the most that is used. */
  uint32_t num_threads;
  /** Null: the shared pool, unless there is an executor. */
  ingot_pool *pool;
  /** Null: a pool. Not together with `pool`. */
  const ingot_executor *executor;
  /** Null: malloc. */
  const ingot_allocator *allocator;
  /** Scratch memory of the caller, at least ingot_model_info.arena_bytes and
   *  64-byte aligned, which must outlive the context; null: allocated. */
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
/** Must not be called while the context runs. */
INGOT_API void ingot_context_release(ingot_context *context);

/** One input of a run. */
typedef struct ingot_input {
  uint32_t struct_size;
  ingot_dtype dtype;
  /** Which input this is; null: the one at this place. All or none. */
  const char *name;
  /** Elements, aligned to the element type. Only read. Of n strings n + 1
   *  offsets into `text`, of int64_t: string i is what stands from offset i up
   *  to offset i + 1, any bytes. */
  const void *data;
  uint64_t bytes; /**< must be exactly what `dims` need */
  /** `rank` sizes; may be null (with rank 0) if the model fixes them all. */
  const int64_t *dims;
  /** Null: dense and row-major. Code for CPUs accepts nothing else. */
  const int64_t *strides;
  uint32_t rank;
  ingot_memory memory; /**< code for CPUs accepts INGOT_MEMORY_HOST only */
  uint32_t device;     /**< whose memory it is; 0 for the host's */
  uint32_t reserved0;
  /** Bytes of strings, in host memory; null for numbers. Only read. */
  const char *text;
  uint64_t text_bytes;
} ingot_input;
#define INGOT_INPUT_INIT                                                       \
  {(uint32_t)sizeof(ingot_input), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** One output of a run. */
typedef struct ingot_output {
  uint32_t struct_size;
  ingot_dtype dtype;
  /** Which output this is; null: the one at this place. All or none. */
  const char *name;
  /** Room for elements, aligned to the element type; of n strings for n + 1
   *  offsets into `text`, the first of which is 0. */
  void *data;
  uint64_t bytes; /**< room at `data`; more than needed is fine */
  /** Receives the `rank` sizes; may be null (with rank 0) if the model fixes
   *  them all. */
  int64_t *dims;
  /** Null: dense and row-major. Code for CPUs accepts nothing else. */
  const int64_t *strides;
  uint32_t rank;
  ingot_memory memory; /**< code for CPUs accepts INGOT_MEMORY_HOST only */
  uint32_t device;     /**< whose memory it is; 0 for the host's */
  uint32_t reserved0;
  /** Room for the bytes of strings, in host memory; null for numbers. */
  char *text;
  uint64_t text_bytes;
  /** Null, or receives how many bytes the strings have, or would need if they
   *  have too little room; 0 where that is not known yet. */
  uint64_t *text_used;
} ingot_output;
#define INGOT_OUTPUT_INIT                                                      \
  {(uint32_t)sizeof(ingot_output), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** A dense input in host memory. */
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

/** A dense output in host memory. */
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

/** A dense input of strings: as many offsets as strings, and one more. */
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

/** A dense output of strings, with room for so many and for their bytes. */
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

/** A wish that runs end early. Thread-safe; any number of runs may have one,
 *  and it must outlive them. */
typedef struct ingot_cancellation ingot_cancellation;

/** Release it with ingot_cancellation_release. */
INGOT_API ingot_status
ingot_cancellation_create(ingot_cancellation **cancellation,
                          ingot_error *error);
INGOT_API void ingot_cancellation_release(ingot_cancellation *cancellation);
/** Runs that have it end with INGOT_CANCELLED, those under way when the layer
 *  that they are in ends, and those that begin from now on at once. A model
 *  without layers (ingot_model_info.num_layers is 0) only looks at the
 *  beginning. May be called from any thread and from a signal handler. */
INGOT_API void ingot_cancellation_request(ingot_cancellation *cancellation);

/** A tensor inside of a run, in host memory; only for the time of a call. */
typedef struct ingot_tensor_view {
  uint32_t struct_size;
  ingot_dtype dtype;
  const void *data;
  const int64_t *dims;    /**< `rank` sizes */
  const int64_t *strides; /**< `rank` steps in elements */
  uint32_t rank;
  uint32_t reserved0;
} ingot_tensor_view;

/** Is shown tensor number `tensor` of a model that was compiled to show its
 *  tensors, as soon as it is complete, by the thread that runs. Returns
 *  INGOT_OK, or the status that the run ends with at once. */
typedef ingot_status (*ingot_observe_fn)(void *user, uint64_t tensor,
                                         const ingot_tensor_view *view);

/** How one run goes. Everything that is zero has no effect. */
typedef struct ingot_run_options {
  uint32_t struct_size;
  uint32_t reserved0;
  /** Queue of the device that the run's work goes to, a CUstream: the run may
   *  return before it is done. Code for CPUs accepts null only. */
  void *stream;
  const ingot_cancellation *cancellation;
  /** Of the same model: receives the times of this run. */
  ingot_profile *profile;
  /** Sees the tensors that the model shows; most show none. */
  ingot_observe_fn observe;
  void *observe_user;
  uint64_t reserved[2];
} ingot_run_options;
#define INGOT_RUN_OPTIONS_INIT                                                 \
  {(uint32_t)sizeof(ingot_run_options), 0, 0, 0, 0, 0, 0, {0, 0}}

/** Runs the model once. All inputs and outputs must be given; outputs may not
 *  overlap each other or an input. `options` may be null.
 *
 *  INGOT_BUFFER_TOO_SMALL: the dims of all outputs say what is needed (a size
 *  that is not known yet stays INGOT_ABI_DYNAMIC), as `text_used` does for the
 *  bytes of strings; give more room and run again. The data of outputs without
 *  room is unchanged; others may have been computed. After other failures the
 *  dims are unchanged; the outputs' data is unchanged too, unless the failure
 *  came from the running code (INGOT_RUNTIME_CHECK, INGOT_BACKEND_ERROR,
 *  INGOT_OUT_OF_MEMORY, INGOT_CANCELLED), which may have written a part.
 *  Offsets of strings that do not fit their text are INGOT_INVALID_ARGUMENT.
 *
 *  A run whose shapes were seen in one of the context's last runs allocates
 *  no memory. */
INGOT_API ingot_status ingot_context_run(ingot_context *context,
                                         const ingot_input *inputs,
                                         uint32_t num_inputs,
                                         const ingot_output *outputs,
                                         uint32_t num_outputs,
                                         const ingot_run_options *options,
                                         ingot_error *error);

/** Threads that a run of this context uses at most. */
INGOT_API uint32_t ingot_context_thread_count(const ingot_context *context);

/** Gives memory kept for later runs back to the allocator; the arena stays.
 *  Does nothing while the context runs. */
INGOT_API void ingot_context_trim(ingot_context *context);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_RUN_H */
