//===- TypedModel.h - a model behind typed C functions ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the functions for CPUs and those for GPUs. Models without code for
// GPUs are linked with the former alone.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_SUPPORT_TYPEDMODEL_H
#define INGOT_RUNTIME_SUPPORT_TYPEDMODEL_H

#include "support.h"

#include "ingot/abi/device.h"
#include "runtime/core/Artifact.h"

#include <atomic>
#include <sys/types.h>

struct ingot_pool;

struct ingot_support_model {
  const ingot_abi_artifact *artifact;
  ingot_abi_variant code;
  const void *weights;
  void *state;
  void *arena;
  ingot_abi_host host;
  ingot_pool *pool; ///< null for one thread
  pid_t process;
  std::atomic<bool> is_running;
  /// True if a run is under way that nobody has waited for.
  std::atomic<bool> is_under_way;
  /// The queue and memory of a GPU; null until the first run.
  void *session;
};

namespace ingot::support {

/// A device and its driver, as ingot_abi_load has them.
struct Driver {
  uint32_t device;
  const char *path;
  /// Receives the status of a load that fails; may be null.
  int32_t *status;
};

/// Writes a message unless `error` is null.
void say(char *error, uint64_t error_bytes, const char *message);

/// Loads a variant of the artifact. Returns null with a message on failure.
ingot_support_model *make(ingot_support_request request, uint32_t variant,
                          Driver driver, char *error, uint64_t error_bytes);

/// Checks the caller's buffers. Returns true with a message if one is wrong.
bool has_fault(ingot::rt::Rows<ingot_abi_tensor> tensors,
               const ingot_abi_buffer *buffers, bool is_input, char *error,
               uint64_t error_bytes);

/// Checks the arguments of a run, marks the model as running, and fills in the
/// call, which has the buffer for messages. Returns false with a status in the
/// call if the run cannot begin.
bool begin(ingot_support_model *model, const ingot_abi_buffer *inputs,
           const ingot_abi_buffer *outputs, ingot_abi_call &call);

} // namespace ingot::support

#endif // INGOT_RUNTIME_SUPPORT_TYPEDMODEL_H
