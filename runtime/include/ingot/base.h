/*===- ingot/base.h - statuses, types, services --------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_BASE_H
#define INGOT_BASE_H

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
  /** A wrong argument: null, count, name, dtype, dims or alignment. */
  INGOT_INVALID_ARGUMENT = INGOT_ABI_INVALID_ARGUMENT,
  /** An output buffer is too small. Its `dims` contain the required sizes. */
  INGOT_BUFFER_TOO_SMALL = INGOT_ABI_BUFFER_TOO_SMALL,
  INGOT_OUT_OF_MEMORY = INGOT_ABI_OUT_OF_MEMORY,
  /** A file, symbol or tensor name does not exist. */
  INGOT_NOT_FOUND = INGOT_ABI_NOT_FOUND,
  /** The file is no artifact or is truncated, or the weights belong to another
   *  one. */
  INGOT_BAD_ARTIFACT = INGOT_ABI_BAD_ARTIFACT,
  INGOT_VERSION_MISMATCH = INGOT_ABI_VERSION_MISMATCH,
  /** The model has no code for this machine. */
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

/** Error message of a failed function. The caller owns the struct, and nothing
 *  needs to be released. Functions that succeed do not change it. */
typedef struct ingot_error {
  uint32_t struct_size;
  ingot_status status;
  char message[504];
} ingot_error;
#define INGOT_ERROR_INIT {(uint32_t)sizeof(ingot_error), INGOT_OK, {0}}

/** Returns the status in words, e.g. "invalid argument"; never null. */
INGOT_API const char *ingot_status_describe(ingot_status status);

/** Returns the version of the library, e.g. "0.1.0". */
INGOT_API const char *ingot_version_get(void);

/* Element types ------------------------------------------------------------*/

/** INGOT_FLOAT and the others of ingot/abi/element_types.inc. */
typedef uint32_t ingot_dtype;
enum {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  INGOT_##NAME = NUMBER,
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS) INGOT_##NAME = NUMBER,
#define INGOT_STRING_TYPE(NAME, NUMBER, TEXT) INGOT_##NAME = NUMBER,
#include "ingot/abi/element_types.inc"
};

/** Returns the bytes of an element, or 0 if this library does not know the
 *  type. Returns 1 for packed types. For all types, n elements take (n *
 *  ingot_dtype_bits(dtype) + 7) / 8 bytes. The element of INGOT_STRING is an
 *  offset, and n strings have n + 1 offsets. */
INGOT_API uint32_t ingot_dtype_size(ingot_dtype dtype);
/** Returns the bits of an element, or 0 if this library does not know the type.
 *  The element of INGOT_STRING is an offset. */
INGOT_API uint32_t ingot_dtype_bits(ingot_dtype dtype);
/** Returns the type's name, e.g. "float32", or "unknown" if this library does
 *  not know the type. */
INGOT_API const char *ingot_dtype_name(ingot_dtype dtype);

/* Memory -------------------------------------------------------------------*/

/** Location of a tensor's elements. */
typedef uint32_t ingot_memory;
enum {
  INGOT_MEMORY_HOST = INGOT_ABI_MEMORY_HOST,
  INGOT_MEMORY_CUDA = INGOT_ABI_MEMORY_CUDA
};

/* Services that a caller may bring -----------------------------------------*/

/** Memory for arenas and tensors. The struct is copied. `user` must stay valid
 *  longer than every object created with it. Called from any thread that loads,
 *  creates, runs or releases, possibly from several threads at the same time.
 */
typedef struct ingot_allocator {
  uint32_t struct_size;
  uint32_t reserved0;
  void *user;
  /** Returns memory of the given alignment (a power of two), or null. */
  void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment);
  void (*release)(void *user, void *pointer);
} ingot_allocator;
#define INGOT_ALLOCATOR_INIT {(uint32_t)sizeof(ingot_allocator), 0, 0, 0, 0}

/** Threads of the caller. The struct is copied. `user` must stay valid longer
 *  than every object created with it. */
typedef struct ingot_executor {
  uint32_t struct_size;
  /** Number of threads that one parallel_for may use, including the caller's.
   */
  uint32_t num_threads;
  void *user;
  /** Must call task(arg, i) exactly once for each 0 <= i < count, on any
   *  threads and in any order, and return when all are done. */
  void (*parallel_for)(void *user, void (*task)(void *arg, int64_t index),
                       void *arg, int64_t count);
} ingot_executor;
#define INGOT_EXECUTOR_INIT {(uint32_t)sizeof(ingot_executor), 1, 0, 0}

/* Thread pools -------------------------------------------------------------*/

/** A set of worker threads. Thread-safe; several contexts may share a pool. If
 *  the pool is busy with a parallel region, another region does not wait, but
 *  runs on its caller's thread. Workers start when first needed.
 *
 *  Contexts without a pool or executor share one pool per process. It has a
 *  thread for each CPU that the process may use, according to the affinity mask
 *  and the CPU quota of the cgroup. The shared pool ends when the last model is
 *  released.
 *
 *  After fork(), the pools of the child have no workers. New workers start when
 *  first needed. */
typedef struct ingot_pool ingot_pool;

typedef struct ingot_pool_options {
  uint32_t struct_size;
  /** Threads of one parallel region, including the caller's; at most 1024. 0:
   *  one for each CPU that the process may use. */
  uint32_t num_threads;
  /** Time that an idle worker spins before it sleeps, in microseconds. 0: the
   *  default, which is 200. If there are more threads than CPUs, the default is
   *  not to spin. */
  uint32_t spin_us;
  uint32_t reserved0;
  uint64_t reserved[4];
} ingot_pool_options;
#define INGOT_POOL_OPTIONS_INIT                                                \
  {(uint32_t)sizeof(ingot_pool_options), 0, 0, 0, {0, 0, 0, 0}}

/** Creates a pool. `options` may be null. Release it with ingot_pool_release.
 *  Contexts that use the pool keep it alive. */
INGOT_API ingot_status ingot_pool_create(const ingot_pool_options *options,
                                         ingot_pool **pool, ingot_error *error);
INGOT_API void ingot_pool_release(ingot_pool *pool);
/** Returns the threads of one parallel region, including the caller's. */
INGOT_API uint32_t ingot_pool_thread_count(const ingot_pool *pool);

/** Returns the number of CPUs that this process may use, according to the
 *  affinity mask and the cgroup's quota. */
INGOT_API uint32_t ingot_cpu_count(void);
/** Returns the highest CPU level that this process may use. The name is as in
 *  --target and INGOT_MAX_ISA. Returns "x86-64" if there is no such level. */
INGOT_API const char *ingot_cpu_level(void);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_BASE_H */
