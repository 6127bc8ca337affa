//===- Model.cpp - a model that is linked and run without libingot --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "support.h"

#include "runtime/core/Levels.h"

#include <stdio.h>
#include <stdlib.h>

struct ingot_support_model {
  ingot_abi_variant code;
  const void *weights;
  void *state;
  void *arena;
  ingot_abi_host host;
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

static void run_in_turn(void *user, void (*task)(void *arg, int64_t index),
                        void *arg, int64_t count) {
  (void)user;
  for (int64_t i = 0; i < count; ++i)
    task(arg, i);
}

static ingot_support_model *refuse(ingot_support_model *model, char *error,
                                   uint64_t error_bytes, const char *message) {
  if (error != nullptr && error_bytes != 0)
    snprintf(error, error_bytes, "%s", message);
  ingot_support_destroy(model);
  return nullptr;
}

ingot_support_model *ingot_support_create(const ingot_abi_artifact *artifact,
                                          const void *weights,
                                          int32_t num_threads, char *error,
                                          uint64_t error_bytes) {
  if (artifact->weights != nullptr)
    weights = artifact->weights;
  if (weights == nullptr && artifact->weights_bytes != 0)
    return refuse(nullptr, error, error_bytes,
                  "this model's weights are in a file of their own: map it and "
                  "pass its address");
  ingot_error reason = INGOT_ERROR_INIT;
  ingot::rt::Cpu cpu;
  uint32_t level;
  if (ingot::rt::readCpu(cpu, &reason) != INGOT_OK ||
      ingot::rt::chooseLevel(*artifact, cpu, "this model", level, &reason) !=
          INGOT_OK)
    return refuse(nullptr, error, error_bytes, reason.message);
  auto *model =
      static_cast<ingot_support_model *>(calloc(1, sizeof(ingot_support_model)));
  if (model == nullptr)
    return refuse(nullptr, error, error_bytes, "out of memory");
  model->code = ingot::rt::levelAt(*artifact, level);
  model->weights = weights;
  model->host.struct_size = sizeof(model->host);
  model->host.num_threads = num_threads < 1 ? 1 : (uint32_t)num_threads;
  model->host.allocate = allocate;
  model->host.release = release;
  model->host.parallel_for = run_in_turn;
  model->arena = allocate(nullptr, artifact->arena_bytes + INGOT_ABI_ALIGNMENT,
                          INGOT_ABI_ALIGNMENT);
  if (model->arena == nullptr)
    return refuse(model, error, error_bytes, "out of memory for the arena");
  if (model->code.load != nullptr &&
      model->code.load(&model->host, weights, &model->state, error,
                       error_bytes) != INGOT_ABI_OK) {
    ingot_support_destroy(model);
    return nullptr;
  }
  return model;
}

int32_t ingot_support_call(ingot_support_model *model,
                           const ingot_abi_buffer *inputs,
                           const ingot_abi_buffer *outputs, char *error,
                           uint64_t error_bytes) {
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
  return model->code.run(&call);
}

void ingot_support_destroy(ingot_support_model *model) {
  if (model == nullptr)
    return;
  if (model->state != nullptr && model->code.unload != nullptr)
    model->code.unload(&model->host, model->state);
  free(model->arena);
  free(model);
}
