//===- Model.cpp - a model that is linked and run without libingot --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TypedModel.h"

#include "runtime/core/Variants.h"
#include "runtime/host/CpuCount.h"
#include "runtime/host/Pool.h"

#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace ingot::support;

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

void ingot::support::say(char *error, uint64_t error_bytes,
                         const char *message) {
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

/// Sets the weights that a call of `create` has passed. Returns false with a
/// message if they do not fit the artifact.
static bool find_weights(ingot_support_request &request, char *error,
                         uint64_t error_bytes) {
  const ingot_abi_artifact &artifact = *request.artifact;
  if (artifact.weights != nullptr || artifact.weights_bytes == 0) {
    request.weights = artifact.weights;
    request.weights_bytes = artifact.weights_bytes;
  }
  const char *fault = nullptr;
  char message[160];
  if (request.weights == nullptr && artifact.weights_bytes != 0) {
    fault = "this model's weights are in a file of their own: map it and pass "
            "its address";
  } else if (request.weights_bytes != artifact.weights_bytes) {
    snprintf(message, sizeof(message),
             "the weights have %llu bytes, but this model needs %llu: the file "
             "is truncated or belongs to another model",
             static_cast<unsigned long long>(request.weights_bytes),
             static_cast<unsigned long long>(artifact.weights_bytes));
    fault = message;
  } else if (reinterpret_cast<uintptr_t>(request.weights) %
             INGOT_ABI_ALIGNMENT) {
    fault = "the weights are not aligned to 64 bytes";
  }
  if (fault)
    say(error, error_bytes, fault);
  return !fault;
}

ingot_support_model *ingot::support::make(ingot_support_request request,
                                          uint32_t variant, Driver driver,
                                          char *error, uint64_t error_bytes) {
  if (!find_weights(request, error, error_bytes))
    return nullptr;
  auto *model = static_cast<ingot_support_model *>(
      calloc(1, sizeof(ingot_support_model)));
  if (model == nullptr)
    return refuse(nullptr, error, error_bytes, "out of memory");
  model->artifact = request.artifact;
  model->code = ingot::rt::readVariant(*request.artifact, variant);
  model->weights = request.weights;
  model->pool = create_pool(request.num_threads);
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
  call.device = driver.device;
  call.driver = driver.path;
  call.host = &model->host;
  call.weights = request.weights;
  call.weights_bytes = request.weights_bytes;
  call.error = error;
  call.error_bytes = error_bytes;
  if (int32_t status = model->code.load(&call)) {
    if (driver.status)
      *driver.status = status;
    ingot_support_destroy(model);
    return nullptr;
  }
  model->state = call.state;
  return model;
}

ingot_support_model *ingot_support_create(const ingot_abi_artifact *artifact,
                                          const void *weights,
                                          uint64_t weights_bytes,
                                          int32_t num_threads, char *error,
                                          uint64_t error_bytes) {
  ingot_error reason = INGOT_ERROR_INIT;
  ingot::rt::Cpu cpu;
  uint32_t variant;
  ingot_support_request request = {artifact, nullptr, weights, weights_bytes,
                                   num_threads};
  if (!find_weights(request, error, error_bytes))
    return nullptr;
  if (ingot::rt::readCpu(cpu, &reason) != INGOT_OK ||
      ingot::rt::chooseVariant(*artifact, cpu, "this model", variant,
                               &reason) != INGOT_OK)
    return refuse(nullptr, error, error_bytes, reason.message);
  return make(request, variant, {}, error, error_bytes);
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

bool ingot::support::has_fault(ingot::rt::Rows<ingot_abi_tensor> tensors,
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

bool ingot::support::begin(ingot_support_model *model,
                           const ingot_abi_buffer *inputs,
                           const ingot_abi_buffer *outputs,
                           ingot_abi_call &call) {
  char *error = call.error;
  const uint64_t error_bytes = call.error_bytes;
  if (model == nullptr) {
    say(error, error_bytes, "the model is null");
    call.status = INGOT_ABI_INVALID_ARGUMENT;
    return false;
  }
  const ingot_abi_artifact &artifact = *model->artifact;
  if (has_fault(ingot::rt::inputsOf(artifact), inputs, true, error,
                error_bytes) ||
      has_fault(ingot::rt::outputsOf(artifact), outputs, false, error,
                error_bytes)) {
    call.status = INGOT_ABI_INVALID_ARGUMENT;
    return false;
  }
  if (model->is_running.exchange(true, std::memory_order_acquire)) {
    say(error, error_bytes,
        model->is_under_way.load(std::memory_order_relaxed)
            ? "an earlier run of the model is under way; wait for it first"
            : "the model is running in another thread; make one handle for "
              "each thread");
    call.status = INGOT_ABI_BUSY;
    return false;
  }
  // The threads of the parent process do not exist in a forked child.
  if (model->pool != nullptr && model->process != getpid()) {
    model->pool->forgetWorkers();
    model->process = getpid();
  }
  call.struct_size = sizeof(call);
  call.host = &model->host;
  call.weights = model->weights;
  call.state = model->state;
  call.arena = model->arena;
  call.inputs = inputs;
  call.outputs = outputs;
  return true;
}

int32_t ingot_support_call(ingot_support_model *model,
                           const ingot_abi_buffer *inputs,
                           const ingot_abi_buffer *outputs, char *error,
                           uint64_t error_bytes) {
  ingot_abi_call call = {};
  call.error = error;
  call.error_bytes = error_bytes;
  if (!begin(model, inputs, outputs, call))
    return call.status;
  int32_t status = model->code.run(&call);
  model->is_running.store(false, std::memory_order_release);
  return status;
}

void ingot_support_destroy(ingot_support_model *model) {
  if (model == nullptr)
    return;
  if (model->session != nullptr)
    model->code.device_functions->close(model->state, model->session);
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
