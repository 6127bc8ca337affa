//===- Variant.cpp - primitives for dynamic sizes -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/State.h"

#include <stdlib.h>
#include <string.h>

using namespace ingot::dnnl;

void ingot::dnnl::readOperation(const State &state, const Operation &operation,
                                Record &record) {
  // The call cannot fail, because `load` has already read the record.
  readRecord(operation.words, operation.numWords, state.names, record);
}

void ingot::dnnl::destroyExecution(Execution *execution) {
  if (!execution)
    return;
  for (dnnl_memory_t memory : execution->memories)
    if (memory)
      dnnl_memory_destroy(memory);
  for (dnnl_memory_t memory : execution->outside)
    if (memory)
      dnnl_memory_destroy(memory);
  if (execution->scratch)
    dnnl_memory_destroy(execution->scratch);
  if (execution->stream)
    dnnl_stream_destroy(execution->stream);
  free(execution);
}

void ingot::dnnl::destroyVariant(Variant *variant) {
  if (!variant)
    return;
  destroyExecution(variant->idle);
  destroyPrimitive(variant->primitive);
  free(variant->dynamic);
  free(variant);
}

/// Gives the variant its constant weights: an existing copy with this layout,
/// or a new copy.
static int32_t attachWeights(const State &state, Operation &operation,
                             const Record &record, Variant &variant,
                             const Message &message) {
  Argument &argument = variant.primitive.arguments[variant.primitive.packed];
  PackedWeights *packed = operation.packed;
  while (packed && !dnnl_memory_desc_equal(packed->layout, argument.layout))
    packed = packed->next;
  if (!packed) {
    packed = static_cast<PackedWeights *>(calloc(1, sizeof(PackedWeights)));
    if (!packed)
      return message.fail(INGOT_ABI_OUT_OF_MEMORY, record, "is out of memory");
    size_t bytes = dnnl_memory_desc_get_size(argument.layout);
    int32_t status = INGOT_ABI_OK;
    if (posix_memalign(&packed->data, INGOT_ABI_ALIGNMENT, bytes) != 0 ||
        dnnl_memory_desc_clone(&packed->layout, argument.layout) !=
            dnnl_success)
      status =
          message.fail(INGOT_ABI_OUT_OF_MEMORY, record, "is out of memory");
    packed->ownsData = true;
    if (status == INGOT_ABI_OK)
      status = packWeights(state.engine, record, state.weights, packed->layout,
                           packed->data, message);
    if (status != INGOT_ABI_OK) {
      if (packed->layout)
        dnnl_memory_desc_destroy(packed->layout);
      free(packed->data);
      free(packed);
      return status;
    }
    packed->next = operation.packed;
    operation.packed = packed;
  }
  variant.weights = packed;
  argument.constant = packed->data;
  return INGOT_ABI_OK;
}

static int32_t makeVariant(const State &state, Operation &operation,
                           const int64_t *dynamic, uint32_t numThreads,
                           const Message &message, Variant *&variant) {
  Record record;
  readOperation(state, operation, record);
  variant = static_cast<Variant *>(calloc(1, sizeof(Variant)));
  size_t bytes = operation.numDynamic * sizeof(int64_t);
  if (variant && bytes)
    variant->dynamic = static_cast<int64_t *>(malloc(bytes));
  if (!variant || (bytes && !variant->dynamic)) {
    destroyVariant(variant);
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, record, "is out of memory");
  }
  if (bytes)
    memcpy(variant->dynamic, dynamic, bytes);
  variant->numThreads = numThreads;
  // First try the layout of weights that are already packed. If a primitive
  // accepts this layout, no second copy is packed.
  int32_t status = INGOT_ABI_BACKEND_ERROR;
  if (operation.packed)
    status = createPrimitive(
        state.engine,
        {record, dynamic, state.weights, operation.packed->layout},
        Message{nullptr, 0}, variant->primitive);
  if (status != INGOT_ABI_OK)
    status =
        createPrimitive(state.engine, {record, dynamic, state.weights, nullptr},
                        message, variant->primitive);
  if (status == INGOT_ABI_OK && variant->primitive.packed >= 0)
    status = attachWeights(state, operation, record, *variant, message);
  if (status != INGOT_ABI_OK)
    destroyVariant(variant);
  return status;
}

/// If there are too many variants, destroys the least recently used one.
static void evict(Operation &operation) {
  int64_t count = 0;
  Variant **oldest = nullptr;
  for (Variant **link = &operation.variants; *link; link = &(*link)->next) {
    ++count;
    if ((*link)->users == 0)
      oldest = link;
  }
  if (count < kMaxVariants || !oldest)
    return;
  Variant *variant = *oldest;
  *oldest = variant->next;
  destroyVariant(variant);
}

int32_t ingot::dnnl::acquireVariant(const State &state, Operation &operation,
                                    const int64_t *dynamic, uint32_t numThreads,
                                    const Message &message, Variant *&variant) {
  pthread_mutex_lock(&operation.mutex);
  size_t bytes = operation.numDynamic * sizeof(int64_t);
  Variant **link = &operation.variants;
  while ((variant = *link) &&
         (variant->numThreads != numThreads ||
          (bytes && memcmp(variant->dynamic, dynamic, bytes) != 0)))
    link = &variant->next;
  int32_t status = INGOT_ABI_OK;
  if (variant) {
    *link = variant->next;
  } else {
    evict(operation);
    status =
        makeVariant(state, operation, dynamic, numThreads, message, variant);
  }
  if (status == INGOT_ABI_OK) {
    variant->next = operation.variants;
    operation.variants = variant;
    ++variant->users;
  }
  pthread_mutex_unlock(&operation.mutex);
  return status;
}

void ingot::dnnl::releaseVariant(Operation &operation, Variant *variant) {
  pthread_mutex_lock(&operation.mutex);
  --variant->users;
  pthread_mutex_unlock(&operation.mutex);
}
