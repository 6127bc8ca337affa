/*===- ingot/ingot.h - load and run compiled models --------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The C API of libingot. It compiles as C11 and as C++17 and uses no C++ type.
 *
 * Conventions
 *  - Functions are named ingot_<noun>_<verb>. Those that can fail return an
 *    ingot_status and take an `ingot_error *` last, which may be null. On
 *    failure nothing else that was passed by pointer is changed, unless the
 *    function says so.
 *  - Structs that may grow start with `struct_size`. Initialise them with
 *    their INGOT_..._INIT macro; that sets the size and zeroes the rest.
 *    Reserved fields must be zero.
 *  - Release functions accept null and return nothing.
 *  - Strings are UTF-8, null-terminated, and belong to the object that
 *    returned them.
 *  - Loading an artifact runs native code from it. Load only files you trust.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#include "ingot/abi/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

/* Status and errors --------------------------------------------------------*/

typedef int32_t ingot_status;
enum {
  INGOT_OK = INGOT_ABI_OK,
  /** Null, wrong count, wrong name, dtype, dims or alignment. */
  INGOT_INVALID_ARGUMENT = INGOT_ABI_INVALID_ARGUMENT,
  /** An output buffer is too small; its `dims` say what it must hold. */
  INGOT_BUFFER_TOO_SMALL = INGOT_ABI_BUFFER_TOO_SMALL,
  INGOT_OUT_OF_MEMORY = INGOT_ABI_OUT_OF_MEMORY,
  /** A file, symbol or tensor name does not exist. */
  INGOT_NOT_FOUND = INGOT_ABI_NOT_FOUND,
  /** Not an artifact, truncated, or not the weights that belong to it. */
  INGOT_BAD_ARTIFACT = INGOT_ABI_BAD_ARTIFACT,
  INGOT_VERSION_MISMATCH = INGOT_ABI_VERSION_MISMATCH,
  /** The model holds no code for what this machine has. */
  INGOT_UNSUPPORTED_DEVICE = INGOT_ABI_UNSUPPORTED_DEVICE,
  /** A library that the artifact uses, e.g. oneDNN, failed. */
  INGOT_BACKEND_ERROR = INGOT_ABI_BACKEND_ERROR,
  /** A check on the data failed while running, e.g. an index out of range. */
  INGOT_RUNTIME_CHECK = INGOT_ABI_RUNTIME_CHECK,
  /** The context or profile is already running in another thread. */
  INGOT_BUSY = INGOT_ABI_BUSY,
  /** The run's ingot_cancellation was requested. */
  INGOT_CANCELLED = INGOT_ABI_CANCELLED
};

/** Where a failing function leaves its message. Plain memory of the caller:
 *  nothing to release. Functions that succeed leave it alone. */
typedef struct ingot_error {
  uint32_t struct_size;
  ingot_status status;
  char message[504];
} ingot_error;
#define INGOT_ERROR_INIT {(uint32_t)sizeof(ingot_error), INGOT_OK, {0}}

/** The status in words, e.g. "invalid argument"; never null. */
INGOT_API const char *ingot_status_describe(ingot_status status);

/** The version of the library, e.g. "0.1.0". */
INGOT_API const char *ingot_version_get(void);

/* Element types ------------------------------------------------------------*/

/** INGOT_FLOAT and the others of ingot/abi/element_types.inc. */
typedef uint32_t ingot_dtype;
enum {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  INGOT_##NAME = NUMBER,
#include "ingot/abi/element_types.inc"
};

/** Bytes of one element, or 0 for a type that this library does not know. */
INGOT_API uint32_t ingot_dtype_size(ingot_dtype dtype);
/** E.g. "float32"; "unknown" for a type that this library does not know. */
INGOT_API const char *ingot_dtype_name(ingot_dtype dtype);

/* Memory -------------------------------------------------------------------*/

/** Where a tensor's elements lie. */
typedef uint32_t ingot_memory;
enum {
  INGOT_MEMORY_HOST = INGOT_ABI_MEMORY_HOST,
  INGOT_MEMORY_CUDA = INGOT_ABI_MEMORY_CUDA
};

/* Services that a caller may bring -----------------------------------------*/

/** Memory for arenas and tensors. Copied when handed in; `user` must outlive
 *  every object made with it. Called from any thread that loads, creates,
 *  runs or releases, possibly from several at once. */
typedef struct ingot_allocator {
  uint32_t struct_size;
  uint32_t reserved0;
  void *user;
  /** Returns memory of the given alignment (a power of two), or null. */
  void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment);
  void (*release)(void *user, void *pointer);
} ingot_allocator;
#define INGOT_ALLOCATOR_INIT {(uint32_t)sizeof(ingot_allocator), 0, 0, 0, 0}

/** Threads of the caller. Copied when handed in; `user` must outlive every
 *  object made with it. */
typedef struct ingot_executor {
  uint32_t struct_size;
  /** Threads that one parallel_for may keep busy, the caller's included. */
  uint32_t num_threads;
  void *user;
  /** Must call task(arg, i) exactly once for each 0 <= i < count, on any
   *  threads and in any order, and return when all are done. */
  void (*parallel_for)(void *user, void (*task)(void *arg, int64_t index),
                       void *arg, int64_t count);
} ingot_executor;
#define INGOT_EXECUTOR_INIT {(uint32_t)sizeof(ingot_executor), 1, 0, 0}

/* Thread pools -------------------------------------------------------------*/

/** A set of worker threads. Thread-safe; several contexts may share one. A
 *  parallel region that finds the pool at work for another one runs in its
 *  own thread instead of waiting. Workers start when first needed.
 *
 *  Contexts made without a pool or executor share one pool per process, sized
 *  by the CPUs that the process may use: its affinity mask and its cgroup's
 *  CPU quota. That pool ends with the last model that is released.
 *
 *  After fork() the child has pools without workers; new ones start when first
 *  needed. */
typedef struct ingot_pool ingot_pool;

typedef struct ingot_pool_options {
  uint32_t struct_size;
  /** Threads of one parallel region, the caller's included; 0: as many as
   *  the CPUs that the process may use. At most 1024. */
  uint32_t num_threads;
  /** How long an idle worker spins before it sleeps, in microseconds; 0: the
   *  default, which is 50, or no spinning if threads outnumber CPUs. */
  uint32_t spin_us;
  uint32_t reserved0;
  uint64_t reserved[4];
} ingot_pool_options;
#define INGOT_POOL_OPTIONS_INIT                                                \
  {(uint32_t)sizeof(ingot_pool_options), 0, 0, 0, {0, 0, 0, 0}}

/** Creates a pool. `options` may be null. Release it with ingot_pool_release;
 *  contexts that use it keep it alive. */
INGOT_API ingot_status ingot_pool_create(const ingot_pool_options *options,
                                         ingot_pool **pool, ingot_error *error);
INGOT_API void ingot_pool_release(ingot_pool *pool);
/** Threads of one parallel region, the caller's included. */
INGOT_API uint32_t ingot_pool_thread_count(const ingot_pool *pool);

/** CPUs that this process may use: affinity mask and cgroup quota. */
INGOT_API uint32_t ingot_cpu_count(void);
/** Name of the highest CPU level that this process may use, as --target and
 *  INGOT_MAX_ISA name them; "x86-64" if none. */
INGOT_API const char *ingot_cpu_level(void);

/* Models -------------------------------------------------------------------*/

/** A loaded model: immutable, thread-safe, shared by any number of contexts,
 *  which keep it alive. Loading one file twice gives two independent models. */
typedef struct ingot_model ingot_model;

enum {
  /** Only read the description: do not check the CPU, map separate weights or
   *  run the model's load step. Such a model cannot make contexts. */
  INGOT_MODEL_DESCRIBE_ONLY = 1,
  /** Do not compute the SHA-256 of separate weights, only check their size.
   *  Saves reading the whole file at load. */
  INGOT_MODEL_TRUST_WEIGHTS = 2,
  /** Compare the weights, too, with the checksum that they were compiled with,
   *  which reads all of them. Code and tables are compared at every load.
   *  Artifacts without checksums are refused. With INGOT_MODEL_DESCRIBE_ONLY
   *  separate weights are mapped and compared as well. Not for attached
   *  models, nor together with INGOT_MODEL_TRUST_.... */
  INGOT_MODEL_VERIFY = 4,
  /** Do not compare code and tables with their checksum: for a file that a tool
   *  has changed on purpose since it was compiled. */
  INGOT_MODEL_TRUST_FILE = 8
};

typedef struct ingot_model_options {
  uint32_t struct_size;
  uint32_t flags; /**< INGOT_MODEL_... */
  /** File of the separate weights; null: the one that was compiled with the
   *  library, "<path>.<16 digits of its SHA-256>.weights", or else
   *  "<path>.weights". Not read for a model that carries its weights. */
  const char *weights_path;
  /** For memory of the model's load step; null: malloc. */
  const ingot_allocator *allocator;
  /** Threads for the model's load step; null: the shared pool. */
  ingot_pool *pool;
  /** The highest CPU level whose features are taken as present, e.g.
   *  "x86-64-v3"; null: whatever the CPU has. INGOT_MAX_ISA caps them, too. */
  const char *max_level;
  uint64_t reserved[4];
} ingot_model_options;
#define INGOT_MODEL_OPTIONS_INIT                                               \
  {(uint32_t)sizeof(ingot_model_options), 0, 0, 0, 0, 0, {0, 0, 0, 0}}

/** Loads a model from a file written by `ingot compile`. `options` may be
 *  null. Release it with ingot_model_release.
 *
 *  What is loaded is what the file holds now: one that has taken the name of
 *  another since that was loaded is another model. A file that was written over
 *  while it is loaded is refused.
 *
 *  Of a model with code for several kinds of machine, the best one that this
 *  machine can run is used. ingot_model_options.max_level and the environment
 *  variable INGOT_MAX_ISA cap the CPU features that are taken as present. */
INGOT_API ingot_status ingot_model_load(const char *path,
                                        const ingot_model_options *options,
                                        ingot_model **model,
                                        ingot_error *error);

/** Same for an artifact that is linked into the program; it must stay mapped
 *  until the model is gone. Separate weights need options->weights_path. */
INGOT_API ingot_status ingot_model_attach(const ingot_abi_artifact *artifact,
                                          const ingot_model_options *options,
                                          ingot_model **model,
                                          ingot_error *error);

/** Contexts of the model may outlive this call; the model goes with the last. */
INGOT_API void ingot_model_release(ingot_model *model);

/** What a model is and needs. Strings belong to the model. */
typedef struct ingot_model_info {
  uint32_t struct_size;
  uint32_t abi_version;
  uint32_t num_inputs;
  uint32_t num_outputs;
  uint32_t num_metadata;
  uint32_t num_uses;     /**< libraries and precisions */
  uint32_t num_variants; /**< kinds of machine that there is code for */
  uint32_t num_layers;   /**< that a profile tells apart; 0: compiled without */
  const char *name;      /**< of the ONNX graph; may be empty */
  const char *compiler;  /**< e.g. "ingot 0.1.0" */
  /** What the code in use is for, e.g. "x86-64-v4"; for a model that is only
   *  described, the code that this machine would use, or else the first. */
  const char *target;
  uint64_t arena_bytes; /**< scratch memory of one context */
  uint64_t weights_bytes;
  uint64_t code_bytes;       /**< of the code in use */
  uint32_t separate_weights; /**< 1 if the weights are in a file of their own */
  uint32_t reserved0;
  uint8_t weights_sha256[32];
  /** Rules about how open sizes have to fit: that hold whatever they are, and
   *  that each run checks; 0 and 0: compiled without */
  uint32_t num_size_rules_proved;
  uint32_t num_size_rules_checked;
} ingot_model_info;
#define INGOT_MODEL_INFO_INIT                                                  \
  {(uint32_t)sizeof(ingot_model_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
   0, 0, {0}, 0, 0}

/** The code for one kind of machine. The string belongs to the model. */
typedef struct ingot_variant_info {
  uint32_t struct_size;
  uint32_t is_in_use;    /**< 1 for the one that ingot_model_info.target names */
  const char *target;    /**< e.g. "x86-64-v4" */
  uint32_t device;       /**< INGOT_ABI_DEVICE_... */
  uint32_t architecture; /**< INGOT_ABI_ARCHITECTURE_... */
  /** That it needs: bits of the architecture's list, for x86-64 that is
   *  ingot/abi/cpu_features.inc. */
  uint64_t features;
  uint32_t priority; /**< of those that can run, the highest is used */
  uint32_t memories; /**< of tensors: bits 1 << INGOT_MEMORY_... */
  uint64_t arena_bytes;
  uint64_t code_bytes;
} ingot_variant_info;
#define INGOT_VARIANT_INFO_INIT                                                \
  {(uint32_t)sizeof(ingot_variant_info), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** What ingot_use_info is about. */
enum {
  /** A library that the code calls, e.g. "onednn". */
  INGOT_USE_LIBRARY = INGOT_ABI_USE_LIBRARY,
  /** A type that products are rounded to, e.g. "bfloat16", beyond the element
   *  types of the model. */
  INGOT_USE_PRECISION = INGOT_ABI_USE_PRECISION
};

/** Something that a model uses. The string belongs to the model. */
typedef struct ingot_use_info {
  uint32_t struct_size;
  uint32_t kind; /**< INGOT_USE_...; a newer compiler may know more */
  const char *name;
} ingot_use_info;
#define INGOT_USE_INFO_INIT {(uint32_t)sizeof(ingot_use_info), 0, 0}

/** One input or output. Everything belongs to the model. */
typedef struct ingot_tensor_info {
  uint32_t struct_size;
  ingot_dtype dtype;
  const char *name;
  /** `rank` sizes; INGOT_ABI_DYNAMIC (-1) where only a run tells. */
  const int64_t *dims;
  /** `rank` names; the empty string where a dimension has none. */
  const char *const *dim_names;
  uint32_t rank;
  uint32_t is_dynamic; /**< 1 if any of dims is INGOT_ABI_DYNAMIC */
  uint64_t bytes;      /**< of the whole tensor; 0 if is_dynamic */
} ingot_tensor_info;
#define INGOT_TENSOR_INFO_INIT                                                 \
  {(uint32_t)sizeof(ingot_tensor_info), 0, 0, 0, 0, 0, 0, 0}

INGOT_API ingot_status ingot_model_describe(const ingot_model *model,
                                            ingot_model_info *info,
                                            ingot_error *error);
INGOT_API ingot_status ingot_model_variant_describe(const ingot_model *model,
                                                    uint32_t index,
                                                    ingot_variant_info *info,
                                                    ingot_error *error);
INGOT_API ingot_status ingot_model_use_describe(const ingot_model *model,
                                                uint32_t index,
                                                ingot_use_info *info,
                                                ingot_error *error);
INGOT_API ingot_status ingot_model_input_describe(const ingot_model *model,
                                                  uint32_t index,
                                                  ingot_tensor_info *info,
                                                  ingot_error *error);
INGOT_API ingot_status ingot_model_output_describe(const ingot_model *model,
                                                   uint32_t index,
                                                   ingot_tensor_info *info,
                                                   ingot_error *error);
INGOT_API ingot_status ingot_model_input_find(const ingot_model *model,
                                              const char *name, uint32_t *index,
                                              ingot_error *error);
INGOT_API ingot_status ingot_model_output_find(const ingot_model *model,
                                               const char *name,
                                               uint32_t *index,
                                               ingot_error *error);
/** Key and value of one entry; either pointer may be null. */
INGOT_API ingot_status ingot_model_metadata_get(const ingot_model *model,
                                                uint32_t index,
                                                const char **key,
                                                const char **value,
                                                ingot_error *error);
/** The value of `key`, or null. */
INGOT_API const char *ingot_model_metadata_find(const ingot_model *model,
                                                const char *key);

/** One layer: a piece of the run that computes certain ONNX nodes. Layers run
 *  one after the other, in order. Strings belong to the model. */
typedef struct ingot_layer_info {
  uint32_t struct_size;
  uint32_t num_nodes; /**< ONNX nodes that it computes, all or a part of them */
  const char *kind;   /**< e.g. "convolution", "elementwise" */
  /** Arithmetic operations of one run, a multiply-add being two, and bytes of
   *  operands and results; 0: unknown, or ingot_profile_times tells. */
  uint64_t flops;
  uint64_t bytes;
} ingot_layer_info;
#define INGOT_LAYER_INFO_INIT {(uint32_t)sizeof(ingot_layer_info), 0, 0, 0, 0}

INGOT_API ingot_status ingot_model_layer_describe(const ingot_model *model,
                                                  uint32_t index,
                                                  ingot_layer_info *info,
                                                  ingot_error *error);
/** Name of an ONNX node of a layer, `node` counting from 0; null if there is
 *  no such layer or node. */
INGOT_API const char *ingot_model_layer_node(const ingot_model *model,
                                             uint32_t layer, uint32_t node);

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
INGOT_API ingot_status ingot_profile_create(ingot_model *model,
                                            const ingot_profile_options *options,
                                            ingot_profile **profile,
                                            ingot_error *error);
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
INGOT_API ingot_status ingot_context_create(ingot_model *model,
                                            const ingot_context_options *options,
                                            ingot_context **context,
                                            ingot_error *error);
/** Must not be called while the context runs. */
INGOT_API void ingot_context_release(ingot_context *context);

/** One input of a run. */
typedef struct ingot_input {
  uint32_t struct_size;
  ingot_dtype dtype;
  /** Which input this is; null: the one at this place. All or none. */
  const char *name;
  /** Elements, aligned to the element type. Only read. */
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
} ingot_input;
#define INGOT_INPUT_INIT                                                       \
  {(uint32_t)sizeof(ingot_input), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** One output of a run. */
typedef struct ingot_output {
  uint32_t struct_size;
  ingot_dtype dtype;
  /** Which output this is; null: the one at this place. All or none. */
  const char *name;
  /** Room for elements, aligned to the element type. */
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
} ingot_output;
#define INGOT_OUTPUT_INIT                                                      \
  {(uint32_t)sizeof(ingot_output), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

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
  uint64_t reserved[4];
} ingot_run_options;
#define INGOT_RUN_OPTIONS_INIT                                                 \
  {(uint32_t)sizeof(ingot_run_options), 0, 0, 0, 0, {0, 0, 0, 0}}

/** Runs the model once. All inputs and outputs must be given; outputs may not
 *  overlap each other or an input. `options` may be null.
 *
 *  INGOT_BUFFER_TOO_SMALL: no output data was written, and the dims of all
 *  outputs say what is needed (a size that is not known yet stays
 *  INGOT_ABI_DYNAMIC); give more room and run again. After other failures the
 *  dims are unchanged; the outputs' data is unchanged too, unless the failure
 *  came from the running code (INGOT_RUNTIME_CHECK, INGOT_BACKEND_ERROR,
 *  INGOT_OUT_OF_MEMORY, INGOT_CANCELLED), which may have written a part.
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

#endif /* INGOT_INGOT_H */
