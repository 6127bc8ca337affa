//===- Model.cpp - a model that is linked and run without libingot --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "support.h"

#include "runtime/core/Artifact.h"
#include "runtime/core/Variants.h"
#include "runtime/host/CpuCount.h"
#include "runtime/host/Pool.h"

#include <atomic>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
};

static void *allocate(void *user, uint64_t bytes, uint64_t alignment) {
  (void)user;
  uint64_t padded = (bytes + alignment - 1) / alignment * alignment;
  return padded < bytes ? nullptr : aligned_alloc(alignment, padded);
}

static void release(void *user, void *pointer) {
  (void)user;
  free(pointer);
}

static void run_tasks(void *user, void (*task)(void *arg, int64_t index),
                      void *arg, int64_t count) {
  auto *model = static_cast<ingot_support_model *>(user);
  if (model->pool != nullptr)
    return model->pool->parallelFor(model->pool->numThreads, task, arg, count);
  for (int64_t i = 0; i < count; ++i)
    task(arg, i);
}

static void say(char *error, uint64_t error_bytes, const char *message) {
  if (error != nullptr && error_bytes != 0)
    snprintf(error, error_bytes, "%s", message);
}

static ingot_support_model *refuse(ingot_support_model *model, char *error,
                                   uint64_t error_bytes, const char *message) {
  say(error, error_bytes, message);
  ingot_support_destroy(model);
  return nullptr;
}

/// Creates a pool. Returns null for one thread, or if memory is exhausted.
/// Without a pool, the model runs on one thread.
static ingot_pool *create_pool(int32_t num_threads) {
  if (num_threads <= 1)
    return nullptr;
  uint32_t threads = uint32_t(num_threads);
  if (threads > ingot_pool::maxThreads)
    threads = ingot_pool::maxThreads;
  bool fits = threads <= ingot::rt::countCpus();
  void *memory = aligned_alloc(alignof(ingot_pool), sizeof(ingot_pool));
  if (memory == nullptr)
    return nullptr;
  return new (memory) ingot_pool(threads, fits ? ingot_pool::defaultSpinUs : 0);
}

ingot_support_model *ingot_support_create(const ingot_abi_artifact *artifact,
                                          const void *weights,
                                          uint64_t weights_bytes,
                                          int32_t num_threads, char *error,
                                          uint64_t error_bytes) {
  if (artifact->weights != nullptr || artifact->weights_bytes == 0) {
    weights = artifact->weights;
    weights_bytes = artifact->weights_bytes;
  }
  if (weights == nullptr && artifact->weights_bytes != 0)
    return refuse(nullptr, error, error_bytes,
                  "this model's weights are in a file of their own: map it and "
                  "pass its address");
  if (weights_bytes != artifact->weights_bytes) {
    char message[160];
    snprintf(message, sizeof(message),
             "the weights have %llu bytes, but this model needs %llu: the file "
             "is truncated or belongs to another model",
             static_cast<unsigned long long>(weights_bytes),
             static_cast<unsigned long long>(artifact->weights_bytes));
    return refuse(nullptr, error, error_bytes, message);
  }
  if (reinterpret_cast<uintptr_t>(weights) % INGOT_ABI_ALIGNMENT != 0)
    return refuse(nullptr, error, error_bytes,
                  "the weights are not aligned to 64 bytes");
  ingot_error reason = INGOT_ERROR_INIT;
  ingot::rt::Cpu cpu;
  uint32_t variant;
  if (ingot::rt::readCpu(cpu, &reason) != INGOT_OK ||
      ingot::rt::chooseVariant(*artifact, cpu, "this model", variant,
                               &reason) != INGOT_OK)
    return refuse(nullptr, error, error_bytes, reason.message);
  auto *model = static_cast<ingot_support_model *>(
      calloc(1, sizeof(ingot_support_model)));
  if (model == nullptr)
    return refuse(nullptr, error, error_bytes, "out of memory");
  model->artifact = artifact;
  model->code = ingot::rt::readVariant(*artifact, variant);
  model->weights = weights;
  model->pool = create_pool(num_threads);
  model->process = getpid();
  model->host.struct_size = sizeof(model->host);
  model->host.num_threads = model->pool ? model->pool->numThreads : 1;
  model->host.user = model;
  model->host.allocate = allocate;
  model->host.release = release;
  model->host.parallel_for = run_tasks;
  model->arena =
      allocate(nullptr, model->code.arena_bytes + INGOT_ABI_ALIGNMENT,
               INGOT_ABI_ALIGNMENT);
  if (model->arena == nullptr)
    return refuse(model, error, error_bytes, "out of memory for the arena");
  if (model->code.load == nullptr)
    return model;
  ingot_abi_load call = {};
  call.struct_size = sizeof(call);
  call.host = &model->host;
  call.weights = weights;
  call.weights_bytes = artifact->weights_bytes;
  call.error = error;
  call.error_bytes = error_bytes;
  if (model->code.load(&call) != INGOT_ABI_OK) {
    ingot_support_destroy(model);
    return nullptr;
  }
  model->state = call.state;
  return model;
}

/// Checks the caller's buffer for a tensor. Returns the problem as text, or
/// null. The caller passes no dims for tensors with fixed sizes.
static const char *find_fault(const ingot_abi_tensor &tensor,
                              const ingot_abi_buffer &buffer, bool is_input) {
  bool is_open = ingot::rt::isDynamic(tensor);
  const int64_t *dims = is_open ? buffer.dims : tensor.dims;
  uint64_t bytes = buffer.bytes;
  if (is_open && dims == nullptr)
    return "has no dims";
  if (is_open && is_input)
    for (uint32_t i = 0; i < tensor.rank; ++i)
      if (dims[i] < 0 ||
          (tensor.dims[i] != INGOT_ABI_DYNAMIC && dims[i] != tensor.dims[i]))
        return "has dims that do not fit the model";
  if ((is_input || !is_open) &&
      !ingot::rt::tensorBytes(tensor.dtype, dims, tensor.rank, bytes))
    return "is impossibly large";
  if (buffer.data == nullptr && bytes != 0)
    return "is null";
  if (tensor.dtype == INGOT_ABI_STRING && buffer.text == nullptr &&
      buffer.text_bytes != 0)
    return "has null text";
  if (reinterpret_cast<uintptr_t>(buffer.data) %
      ingot_dtype_size(tensor.dtype))
    return "is not aligned to its element type";
  return nullptr;
}

static bool has_fault(ingot::rt::Rows<ingot_abi_tensor> tensors,
                      const ingot_abi_buffer *buffers, bool is_input,
                      char *error, uint64_t error_bytes) {
  for (uint32_t i = 0; i < tensors.count(); ++i)
    if (const char *fault = find_fault(tensors[i], buffers[i], is_input)) {
      if (error != nullptr && error_bytes != 0)
        snprintf(error, error_bytes, "%s '%.160s' %s",
                 is_input ? "input" : "output", tensors[i].name, fault);
      return true;
    }
  return false;
}

int32_t ingot_support_call(ingot_support_model *model,
                           const ingot_abi_buffer *inputs,
                           const ingot_abi_buffer *outputs, char *error,
                           uint64_t error_bytes) {
  if (model == nullptr) {
    say(error, error_bytes, "the model is null");
    return INGOT_ABI_INVALID_ARGUMENT;
  }
  const ingot_abi_artifact &artifact = *model->artifact;
  if (has_fault(ingot::rt::inputsOf(artifact), inputs, true, error,
                error_bytes) ||
      has_fault(ingot::rt::outputsOf(artifact), outputs, false, error,
                error_bytes))
    return INGOT_ABI_INVALID_ARGUMENT;
  if (model->is_running.exchange(true, std::memory_order_acquire)) {
    say(error, error_bytes,
        "the model is running in another thread; make one handle for each "
        "thread");
    return INGOT_ABI_BUSY;
  }
  // The threads of the parent process do not exist in a forked child.
  if (model->pool != nullptr && model->process != getpid()) {
    model->pool->forgetWorkers();
    model->process = getpid();
  }
  ingot_abi_call call = {};
  call.struct_size = sizeof(call);
  call.host = &model->host;
  call.weights = model->weights;
  call.state = model->state;
  call.arena = model->arena;
  call.inputs = inputs;
  call.outputs = outputs;
  call.error = error;
  call.error_bytes = error_bytes;
  int32_t status = model->code.run(&call);
  model->is_running.store(false, std::memory_order_release);
  return status;
}

void ingot_support_destroy(ingot_support_model *model) {
  if (model == nullptr)
    return;
  if (model->state != nullptr && model->code.unload != nullptr)
    model->code.unload(&model->host, model->state);
  if (model->pool != nullptr) {
    if (model->process != getpid())
      model->pool->forgetWorkers();
    model->pool->stop();
    free(model->pool);
  }
  free(model->arena);
  free(model);
}
