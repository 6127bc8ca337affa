/*===- model.c - a model that is linked and run without libingot ----------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

struct ingot_support_model {
  const ingot_abi_artifact *artifact;
  const void *weights;
  void *state;
  void *arena;
  ingot_abi_host host;
};

static void *allocate(void *user, uint64_t bytes, uint64_t alignment) {
  (void)user;
  uint64_t padded = (bytes + alignment - 1) / alignment * alignment;
  return padded < bytes ? NULL : aligned_alloc(alignment, padded);
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

static uint64_t host_features(void) {
  uint64_t mask = 0;
  __builtin_cpu_init();
#define FEATURE(BIT, NAME)                                                     \
  if (__builtin_cpu_supports(NAME))                                            \
    mask |= UINT64_C(1) << (BIT);
  FEATURE(0, "sse4.2")
  FEATURE(1, "avx")
  FEATURE(2, "avx2")
  FEATURE(3, "fma")
  FEATURE(4, "f16c")
  FEATURE(5, "bmi2")
  FEATURE(6, "avx512f")
  FEATURE(7, "avx512bw")
  FEATURE(8, "avx512cd")
  FEATURE(9, "avx512dq")
  FEATURE(10, "avx512vl")
  FEATURE(11, "avx512vnni")
  FEATURE(12, "avx512bf16")
  FEATURE(13, "avx512fp16")
#undef FEATURE
  return mask;
}

static ingot_support_model *refuse(ingot_support_model *model, char *error,
                                   uint64_t error_bytes, const char *message) {
  if (error != NULL && error_bytes != 0)
    snprintf(error, error_bytes, "%s", message);
  ingot_support_destroy(model);
  return NULL;
}

ingot_support_model *ingot_support_create(const ingot_abi_artifact *artifact,
                                          const void *weights,
                                          int32_t num_threads, char *error,
                                          uint64_t error_bytes) {
  if (artifact->weights != NULL)
    weights = artifact->weights;
  if (weights == NULL && artifact->weights_bytes != 0)
    return refuse(NULL, error, error_bytes,
                  "this model's weights are in a file of their own: map it and "
                  "pass its address");
  if (artifact->cpu_features & ~host_features())
    return refuse(NULL, error, error_bytes,
                  "this CPU lacks instructions that the model was compiled for");
  ingot_support_model *model = calloc(1, sizeof(*model));
  if (model == NULL)
    return refuse(NULL, error, error_bytes, "out of memory");
  model->artifact = artifact;
  model->weights = weights;
  model->host.struct_size = sizeof(model->host);
  model->host.num_threads = num_threads < 1 ? 1 : (uint32_t)num_threads;
  model->host.allocate = allocate;
  model->host.release = release;
  model->host.parallel_for = run_in_turn;
  model->arena = allocate(NULL, artifact->arena_bytes + INGOT_ABI_ALIGNMENT,
                          INGOT_ABI_ALIGNMENT);
  if (model->arena == NULL)
    return refuse(model, error, error_bytes, "out of memory for the arena");
  if (artifact->load != NULL &&
      artifact->load(&model->host, weights, &model->state, error,
                     error_bytes) != INGOT_ABI_OK) {
    ingot_support_destroy(model);
    return NULL;
  }
  return model;
}

int32_t ingot_support_call(ingot_support_model *model,
                           const ingot_abi_buffer *inputs,
                           const ingot_abi_buffer *outputs, char *error,
                           uint64_t error_bytes) {
  ingot_abi_call call = {.struct_size = sizeof(call),
                         .host = &model->host,
                         .weights = model->weights,
                         .state = model->state,
                         .arena = model->arena,
                         .inputs = inputs,
                         .outputs = outputs,
                         .error = error,
                         .error_bytes = error_bytes};
  return model->artifact->run(&call);
}

void ingot_support_destroy(ingot_support_model *model) {
  if (model == NULL)
    return;
  if (model->state != NULL && model->artifact->unload != NULL)
    model->artifact->unload(&model->host, model->state);
  free(model->arena);
  free(model);
}
