//===- State.h - what all runs of a model share -----------------*- C++ -*-===//
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

/// How many primitives for other sizes or thread counts an operation keeps.
constexpr int64_t kMaxVariants = 16;

/// Objects that one run of a primitive needs for itself.
struct Execution {
  dnnl_stream_t stream;
  dnnl_memory_t scratch;
  dnnl_memory_t memories[INGOT_DNNL_MAX_TENSORS];
  /// The caller's data of arguments that are copied.
  dnnl_memory_t outside[INGOT_DNNL_MAX_TENSORS];
  dnnl_exec_arg_t arguments[INGOT_DNNL_MAX_TENSORS + 1];
};

/// A primitive of an operation, for the sizes and threads it was made for.
struct Variant {
  Variant *next;
  uint32_t numThreads;
  /// Runs that use it; guarded by the operation's mutex.
  int64_t users;
  /// The operation's dynamic dims and strides, or null if it has none.
  int64_t *dynamic;
  PackedWeights *weights;
  Primitive primitive;
  /// One execution kept for the next run; exchanged atomically.
  Execution *idle;
};

struct Operation {
  const int64_t *words;
  int64_t numWords;
  int64_t numDynamic;
  /// Made by `load` and never changed, so that runs need no lock; null if the
  /// operation has dynamic sizes.
  Variant *fixed;
  pthread_mutex_t mutex;
  /// Made by runs; the one used last comes first.
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

/// Sets the number of threads that oneDNN uses on this thread, and back. The
/// threads that OpenMP starts meanwhile take over this one's floating-point
/// state, so it is that of a run here too; see float_state.h.
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

/// Finds or makes the variant for these sizes and threads, and counts the
/// caller as its user until releaseVariant.
int32_t acquireVariant(const State &state, Operation &operation,
                       const int64_t *dynamic, uint32_t numThreads,
                       const Message &message, Variant *&variant);
void releaseVariant(Operation &operation, Variant *variant);

/// Lets go of the physical pages of weights that were copied, if they are part
/// of this artifact's file and so can be read again.
void dropPages(const void *data, size_t bytes);

} // namespace ingot::dnnl

#endif // INGOT_RUNTIME_DNNL_STATE_H
