//===- DeviceMemory.cpp - memory of the model's device --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Error.h"
#include "runtime/core/Model.h"

using namespace ingot::rt;

/// Reports what a function of the device says.
static ingot_status report(ingot_error *error, int32_t status,
                           const char *message) {
  return status ? fail(error, status, "%s",
                       message[0] ? message : ingot_status_describe(status))
                : INGOT_OK;
}

/// Checks that the model is loaded and that its code has such memory.
static ingot_status checkMemory(const ingot_model *model, ingot_memory memory,
                                ingot_error *error) {
  if (!model)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  if (!model->loaded)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the model was opened with INGOT_MODEL_DESCRIBE_ONLY and has "
                "no memory");
  const bool isKnown =
      memory == INGOT_MEMORY_HOST ||
      (memory == INGOT_MEMORY_CUDA && (model->code.memories & (1u << memory)));
  if (!isKnown)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the code in use (%s) has no %s memory", model->code.target,
                memory == INGOT_MEMORY_CUDA ? "CUDA" : "such");
  if (memory == INGOT_MEMORY_CUDA && !model->code.device_functions)
    return fail(error, INGOT_VERSION_MISMATCH,
                "the compiler of the model did not know ingot_memory_...; "
                "compile the model again");
  return INGOT_OK;
}

ingot_status ingot_memory_allocate(ingot_model *model, ingot_memory memory,
                                   uint64_t bytes, void **pointer,
                                   ingot_error *error) {
  if (ingot_status status = checkMemory(model, memory, error))
    return status;
  if (!pointer)
    return fail(error, INGOT_INVALID_ARGUMENT, "pointer is null");
  void *made = nullptr;
  if (const ingot_abi_device *device = model->code.device_functions) {
    char message[384] = "";
    if (int32_t status = device->allocate(model->state, memory, bytes, &made,
                                          message, sizeof(message)))
      return report(error, status, message);
  } else if (bytes) {
    made = model->allocator.allocate(model->allocator.user, bytes,
                                     INGOT_ABI_ALIGNMENT);
    if (!made)
      return fail(error, INGOT_OUT_OF_MEMORY, "no memory of %llu bytes",
                  static_cast<unsigned long long>(bytes));
  }
  *pointer = made;
  return INGOT_OK;
}

void ingot_memory_release(ingot_model *model, ingot_memory memory,
                          void *pointer) {
  if (!model || !pointer)
    return;
  if (const ingot_abi_device *device = model->code.device_functions)
    device->release(model->state, memory, pointer);
  else
    model->allocator.release(model->allocator.user, pointer);
}

ingot_status ingot_memory_copy(ingot_model *model, ingot_memory toMemory,
                               void *to, ingot_memory fromMemory,
                               const void *from, uint64_t bytes, void *stream,
                               ingot_error *error) {
  for (ingot_memory memory : {toMemory, fromMemory})
    if (ingot_status status = checkMemory(model, memory, error))
      return status;
  if (bytes && (!to || !from))
    return fail(error, INGOT_INVALID_ARGUMENT, "to or from is null");
  const ingot_abi_device *device = model->code.device_functions;
  if (!device && stream)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the code in use (%s) has no streams; leave stream null",
                model->code.target);
  if (!device) {
    if (bytes)
      memmove(to, from, bytes);
    return INGOT_OK;
  }
  ingot_abi_copy copy = {};
  copy.struct_size = sizeof(copy);
  copy.to_memory = toMemory;
  copy.from_memory = fromMemory;
  copy.to = to;
  copy.from = from;
  copy.bytes = bytes;
  copy.stream = stream;
  char message[384] = "";
  return report(error,
                device->copy(model->state, &copy, message, sizeof(message)),
                message);
}
