//===- State.h - state that all runs share ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_DNNL_STATE_H
#define INGOT_RUNTIME_DNNL_STATE_H

#include "runtime/dnnl/Primitive.h"
#include "runtime/support/float_state.h"

#include <pthread.h>

namespace ingot::dnnl {

/// Largest number of primitives that an operation keeps for other sizes or
/// thread counts.
constexpr int64_t kMaxVariants = 16;

/// Objects that each of several concurrent runs of a primitive needs.
struct Execution {
  dnnl_stream_t stream;
  dnnl_memory_t scratch;
  dnnl_memory_t memories[INGOT_DNNL_MAX_TENSORS];
  /// Memory objects for the caller's data of copied arguments.
  dnnl_memory_t outside[INGOT_DNNL_MAX_TENSORS];
  dnnl_exec_arg_t arguments[INGOT_DNNL_MAX_TENSORS + 1];
};

/// A primitive of an operation for certain sizes and a number of threads.
struct Variant {
  Variant *next;
  uint32_t numThreads;
  /// Number of current runs of the variant. The operation's mutex guards it.
  int64_t users;
  /// Dynamic dims and strides of the operation, or null if it has none.
  int64_t *dynamic;
  PackedWeights *weights;
  Primitive primitive;
  /// An execution that is kept for the next run. Exchanged atomically.
  Execution *idle;
};

struct Operation {
  const int64_t *words;
  int64_t numWords;
  int64_t numDynamic;
  /// Variant that `load` creates. It never changes, so runs need no lock. Null
  /// if the operation has dynamic sizes.
  Variant *fixed;
  pthread_mutex_t mutex;
  /// Variants that runs create. The most recently used variant is first.
  Variant *variants;
  PackedWeights *packed;
};

struct State {
  dnnl_engine_t engine;
  const void *weights;
  const char *names;
  int64_t numOperations;
  Operation *operations;
  /// Packed weights of all fixed variants.
  void *slab;
  size_t slabBytes;
};

/// Sets the number of threads that oneDNN uses from this thread, and resets it
/// at the end. Also sets the floating-point state of a run, because threads
/// that OpenMP starts inherit it; see float_state.h.
class ThreadScope {
public:
  explicit ThreadScope(uint32_t numThreads);
  ~ThreadScope();
  ThreadScope(const ThreadScope &) = delete;
  ThreadScope &operator=(const ThreadScope &) = delete;

private:
  int saved = 0;
  ingot_float_state savedFloatState;
};

void readOperation(const State &state, const Operation &operation,
                   Record &record);
void destroyExecution(Execution *execution);
void destroyVariant(Variant *variant);

/// Finds or creates the variant for these sizes and this number of threads. The
/// variant stays valid until the caller calls releaseVariant.
int32_t acquireVariant(const State &state, Operation &operation,
                       const int64_t *dynamic, uint32_t numThreads,
                       const Message &message, Variant *&variant);
void releaseVariant(Operation &operation, Variant *variant);

/// Releases the physical pages of weights that were copied. Only releases
/// weights in this artifact's file, because these can be read again.
void dropPages(const void *data, size_t bytes);

} // namespace ingot::dnnl

#endif // INGOT_RUNTIME_DNNL_STATE_H
