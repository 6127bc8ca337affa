//===- Context.h - what one run at a time needs ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_CONTEXT_H
#define INGOT_RUNTIME_CORE_CONTEXT_H

#include "runtime/core/Artifact.h"
#include "runtime/core/RunHeap.h"
#include "runtime/core/Model.h"

namespace ingot::rt {

/// Buffers of a run, at the distance that the artifact expects. Fields that
/// only a newer artifact knows are zero.
class Buffers {
public:
  Buffers() = default;
  Buffers(void *first, uint32_t bytes)
      : first(static_cast<char *>(first)), bytes(bytes) {}
  ingot_abi_buffer &operator[](uint32_t index) const {
    return *reinterpret_cast<ingot_abi_buffer *>(first + size_t(index) * bytes);
  }

private:
  char *first = nullptr;
  uint32_t bytes = 0;
};

} // namespace ingot::rt

struct ingot_context {
  ingot_context(const ingot_allocator &allocator)
      : allocator(allocator), heap(allocator) {}
  ~ingot_context();

  ingot_status init(ingot_model *model, const ingot_context_options &options,
                    ingot_error *error);
  ingot_status initThreads(const ingot_context_options &options,
                           ingot_error *error);
  ingot_status initArena(const ingot_context_options &options,
                         ingot_error *error);
  ingot_status initBuffers(ingot_error *error);

  /// Runs once. If `isAsync`, the work may still be under way afterwards.
  ingot_status run(const ingot_input *inputs, const ingot_output *outputs,
                   const ingot_run_options &options, bool isAsync,
                   ingot_error *error);
  /// Makes the session of a device that has sessions.
  ingot_status openSession(ingot_error *error);
  void closeSession();
  /// Waits for the work of the session, which a run has started.
  int32_t waitForSession(char *message, uint64_t bytes);
  ingot_status bindInputs(const ingot_input *inputs, ingot_error *error);
  ingot_status bindOutputs(const ingot_output *outputs, ingot_error *error);
  ingot_status checkOverlaps(ingot_error *error) const;
  /// Writes the sizes of outputs to the caller's dims.
  void reportDims() const;
  /// Writes the sizes of outputs and reports an output whose buffer was too
  /// small.
  ingot_status reportTooSmall(ingot_error *error) const;

  ingot_model *model = nullptr;
  ingot_allocator allocator;
  ingot::rt::RunHeap heap;
  ingot_pool *pool = nullptr; ///< null with an executor
  ingot_executor executor = INGOT_EXECUTOR_INIT;
  ingot_abi_host host = {};
  void *arena = nullptr;
  bool ownsArena = false;
  std::atomic<bool> running{false};
  /// State of the device for this context; null before the first run.
  void *session = nullptr;
  /// True if ingot_context_run_async has started a run that nobody has waited
  /// for. `running` is true, too.
  std::atomic<bool> isUnderWay{false};

  // Buffers for the generated code, and pointers to the caller's structs in the
  // model's order. They share one allocation, which all runs reuse.
  void *tables = nullptr;
  ingot::rt::Buffers inputBuffers;
  ingot::rt::Buffers outputBuffers;
  ingot_input *givenInputs = nullptr;
  ingot_output *givenOutputs = nullptr;
};

#endif // INGOT_RUNTIME_CORE_CONTEXT_H
