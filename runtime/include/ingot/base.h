/*===- ingot/base.h - statuses, types, services --------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which says what holds for all of it.
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
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS) INGOT_##NAME = NUMBER,
#define INGOT_STRING_TYPE(NAME, NUMBER, TEXT) INGOT_##NAME = NUMBER,
#include "ingot/abi/element_types.inc"
};

/** Bytes of one element, or 0 for a type that this library does not know. 1 for
 *  a type of less than a byte, of which several share a byte: there n elements
 *  take (n * ingot_dtype_bits(dtype) + 7) / 8 bytes, as they do of any type.
 *  Of INGOT_STRING it is an offset: n strings have n + 1. */
INGOT_API uint32_t ingot_dtype_size(ingot_dtype dtype);
/** Bits of one element, or 0 for a type that this library does not know; of
 *  INGOT_STRING those of an offset. */
INGOT_API uint32_t ingot_dtype_bits(ingot_dtype dtype);
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
   *  default, which is 200, or no spinning if threads outnumber CPUs. */
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

#ifdef __cplusplus
}
#endif

#endif /* INGOT_BASE_H */
