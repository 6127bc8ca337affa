//===- Memory.cpp - memory of the caller, and copies ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

using namespace ingot::cuda;

//===----------------------------------------------------------------------===//
// Checks of what a caller gives
//===----------------------------------------------------------------------===//

int32_t State::checkUsable(const Message &message) {
  if (owner != getpid())
    return message.fail(INGOT_ABI_BACKEND_ERROR,
                        "the model was loaded on a GPU before a fork; load it "
                        "in the new process");
  pthread_mutex_lock(&mutex);
  const bool isEnded = fault != success;
  pthread_mutex_unlock(&mutex);
  if (isEnded)
    return message.fail(INGOT_ABI_BACKEND_ERROR,
                        "the GPU failed in an earlier run: %s", faultText);
  return INGOT_ABI_OK;
}

int32_t State::checkStream(Stream stream, const Message &message) {
  Context of = nullptr;
  Result result = driver.cuStreamGetCtx(stream, &of);
  // After a fault of the GPU, every call fails, also for a right stream.
  if (endsContext(result))
    return check(result, "cuStreamGetCtx", message);
  if (result || of != context)
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the stream does not belong to the primary context of "
                        "CUDA device %d, which the model uses",
                        device);
  CaptureStatus capture = captureNone;
  result = driver.cuStreamIsCapturing(stream, &capture);
  if (endsContext(result))
    return check(result, "cuStreamIsCapturing", message);
  if (result || capture != captureNone)
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the stream captures a graph, but work of a model "
                        "cannot be captured; end the capture first");
  return INGOT_ABI_OK;
}

int32_t State::checkAddress(const void *data, const char *place,
                            const Message &message) {
  const DevicePointer pointer = uintptr_t(data);
  MemoryType type = memoryHost;
  int owned = -1;
  Result result =
      driver.cuPointerGetAttribute(&type, pointerMemoryType, pointer);
  if (!result && type == memoryDevice)
    result = driver.cuPointerGetAttribute(&owned, pointerDevice, pointer);
  // After a fault of the GPU, every call fails, also for a right address.
  if (endsContext(result))
    return check(result, "cuPointerGetAttribute", message);
  if (result || type != memoryDevice)
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the address%s is not in memory of CUDA device %d",
                        place, device);
  if (owned != device)
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the address%s is in memory of CUDA device %d, but the "
                        "model runs on CUDA device %d",
                        place, owned, device);
  return INGOT_ABI_OK;
}

int32_t State::checkHostAddress(const void *data, const char *place,
                                const Message &message) {
  const DevicePointer pointer = uintptr_t(data);
  MemoryType type = memoryHost;
  unsigned isManaged = 0;
  // The driver does not know memory of the host that is not pinned. Managed
  // memory belongs to both.
  if (driver.cuPointerGetAttribute(&type, pointerMemoryType, pointer) ||
      type != memoryDevice ||
      driver.cuPointerGetAttribute(&isManaged, pointerIsManaged, pointer) ||
      isManaged)
    return INGOT_ABI_OK;
  return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                      "the address%s is said to be in host memory, but it is "
                      "in memory of a GPU",
                      place);
}

//===----------------------------------------------------------------------===//
// Functions of ingot_abi_device
//===----------------------------------------------------------------------===//

static int32_t allocateMemory(void *opaque, uint32_t memory, uint64_t bytes,
                              void **pointer, char *error, uint64_t room) {
  State &state = *static_cast<State *>(opaque);
  const Message message{error, room};
  Current current(state, message);
  if (current.status)
    return current.status;
  *pointer = nullptr;
  if (!bytes)
    return INGOT_ABI_OK;
  if (memory == INGOT_ABI_MEMORY_HOST) {
    char place[64];
    snprintf(place, sizeof(place), " for memory of %llu bytes",
             static_cast<unsigned long long>(bytes));
    return state.check(
        state.driver.cuMemHostAlloc(pointer, bytes, hostAllocPortable),
        "cuMemHostAlloc", message, place);
  }
  DevicePointer made = 0;
  const int32_t status = allocate(state, made, bytes, " for memory", message);
  *pointer = reinterpret_cast<void *>(uintptr_t(made));
  return status;
}

static void releaseMemory(void *opaque, uint32_t memory, void *pointer) {
  State &state = *static_cast<State *>(opaque);
  // After a fork, the context belongs to the other process.
  if (!pointer || state.owner != getpid())
    return;
  Current current(state);
  if (memory == INGOT_ABI_MEMORY_HOST)
    state.driver.cuMemFreeHost(pointer);
  else
    state.driver.cuMemFree_v2(uintptr_t(pointer));
}

/// Sets `stream` to the stream of copies that have none.
static int32_t findCopyStream(State &state, Stream &stream,
                              const Message &message) {
  pthread_mutex_lock(&state.mutex);
  Result result = success;
  if (!state.copies)
    result = state.driver.cuStreamCreate(&state.copies, streamNonBlocking);
  stream = state.copies;
  pthread_mutex_unlock(&state.mutex);
  return state.check(result, "cuStreamCreate", message, " for copies");
}

/// Enqueues a copy. Memory of the host is copied to memory of the host when the
/// stream has come so far.
static int32_t enqueueCopy(State &state, const ingot_abi_copy &copy,
                           Stream stream, const Message &message) {
  const DevicePointer to = uintptr_t(copy.to), from = uintptr_t(copy.from);
  const bool isToHost = copy.to_memory == INGOT_ABI_MEMORY_HOST;
  const bool isFromHost = copy.from_memory == INGOT_ABI_MEMORY_HOST;
  if (isToHost && isFromHost) {
    int32_t status = state.check(state.driver.cuStreamSynchronize(stream),
                                 "cuStreamSynchronize", message);
    if (!status)
      memmove(copy.to, copy.from, copy.bytes);
    return status;
  }
  if (isToHost)
    return state.check(
        state.driver.cuMemcpyDtoHAsync_v2(copy.to, from, copy.bytes, stream),
        "cuMemcpyDtoHAsync_v2", message);
  if (isFromHost)
    return state.check(
        state.driver.cuMemcpyHtoDAsync_v2(to, copy.from, copy.bytes, stream),
        "cuMemcpyHtoDAsync_v2", message);
  return state.check(
      state.driver.cuMemcpyDtoDAsync_v2(to, from, copy.bytes, stream),
      "cuMemcpyDtoDAsync_v2", message);
}

/// Returns true if a copy within GPU memory writes bytes that it reads. The
/// driver leaves open what such a copy does.
static bool overlapsItself(const ingot_abi_copy &copy) {
  if (copy.to_memory != INGOT_ABI_MEMORY_CUDA ||
      copy.from_memory != INGOT_ABI_MEMORY_CUDA)
    return false;
  const uintptr_t to = uintptr_t(copy.to), from = uintptr_t(copy.from);
  return (to < from ? from - to : to - from) < copy.bytes;
}

static int32_t copyMemory(void *opaque, const ingot_abi_copy *copy, char *error,
                          uint64_t room) {
  State &state = *static_cast<State *>(opaque);
  const Message message{error, room};
  Current current(state, message);
  if (current.status)
    return current.status;
  if (!copy->bytes)
    return INGOT_ABI_OK;
  auto check = [&](uint32_t memory, const void *data, const char *place) {
    return memory == INGOT_ABI_MEMORY_CUDA
               ? state.checkAddress(data, place, message)
               : state.checkHostAddress(data, place, message);
  };
  if (int32_t status = check(copy->to_memory, copy->to, " that is copied to"))
    return status;
  if (int32_t status =
          check(copy->from_memory, copy->from, " that is copied from"))
    return status;
  if (overlapsItself(*copy))
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the memory that is copied to overlaps the memory that "
                        "is copied from; copy to other memory first");
  auto *stream = static_cast<Stream>(copy->stream);
  if (int32_t status = stream ? state.checkStream(stream, message)
                              : findCopyStream(state, stream, message))
    return status;
  int32_t status = enqueueCopy(state, *copy, stream, message);
  if (copy->stream)
    return status;
  if (int32_t waited = state.check(state.driver.cuStreamSynchronize(stream),
                                   "cuStreamSynchronize", message);
      waited && !status)
    status = waited;
  return status;
}

static uint32_t locate(void *opaque, const void *pointer, uint32_t *device) {
  State &state = *static_cast<State *>(opaque);
  const DevicePointer address = uintptr_t(pointer);
  MemoryType type = memoryHost;
  int owner = 0;
  *device = 0;
  // If the model cannot be used, the run will say so.
  Current current(state, {nullptr, 0});
  if (current.status)
    return INGOT_ABI_MEMORY_HOST;
  if (state.driver.cuPointerGetAttribute(&type, pointerMemoryType, address) ||
      type != memoryDevice ||
      state.driver.cuPointerGetAttribute(&owner, pointerDevice, address))
    return INGOT_ABI_MEMORY_HOST;
  *device = uint32_t(owner);
  return INGOT_ABI_MEMORY_CUDA;
}

const ingot_abi_device ingot_cuda_device = {sizeof(ingot_abi_device),
                                            0,
                                            openSession,
                                            closeSession,
                                            waitForSession,
                                            allocateMemory,
                                            releaseMemory,
                                            copyMemory,
                                            locate};
