//===- Sessions.cpp - streams and memory of runs --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

using namespace ingot::cuda;

void ingot::cuda::destroyRun(Run *run) {
  const ingot_cuda_program &program = *run->state->program;
  Driver &driver = run->state->driver;
  // A run whose wait failed may still use its memory.
  if (run->isPending && run->stream != run->ownStream)
    driver.cuStreamSynchronize(run->stream);
  if (run->ownStream)
    driver.cuStreamSynchronize(run->ownStream);
  releaseGraphs(*run, /*isOurs=*/true);
  if (run->done)
    driver.cuEventDestroy_v2(run->done);
  run->freeTimes(/*isOurs=*/true);
  for (uint32_t i = 0;
       run->buffers && i < program.num_inputs + program.num_outputs; ++i)
    if (run->buffers[i])
      driver.cuMemFree_v2(run->buffers[i]);
  if (run->arena)
    driver.cuMemFree_v2(run->arena);
  run->heap.releaseAll(&driver);
  run->freeStatus();
  if (run->ownStream)
    driver.cuStreamDestroy_v2(run->ownStream);
  for (uint32_t i = 0;
       run->shadows && i < 1 + program.num_inputs + program.num_outputs; ++i)
    if (run->shadows[i])
      driver.cuMemFreeHost(run->shadows[i]);
  freeRun(run);
}

void ingot::cuda::freeRun(Run *run) {
  releaseGraphs(*run, /*isOurs=*/false);
  run->freeTimes(/*isOurs=*/false);
  run->heap.releaseAll(/*driver=*/nullptr);
  free(run->shadows);
  free(run->reserves);
  free(run->bytes);
  free(run->buffers);
  free(run->addresses);
  free(run->tensors);
  free(run);
}

int32_t ingot::cuda::allocate(State &state, DevicePointer &pointer,
                              uint64_t bytes, const char *place,
                              const Message &message) {
  if (!bytes)
    return INGOT_ABI_OK;
  char text[128];
  snprintf(text, sizeof(text), "%s of %llu bytes", place,
           static_cast<unsigned long long>(bytes));
  return state.check(state.driver.cuMemAlloc_v2(&pointer, bytes),
                     "cuMemAlloc_v2", message, text);
}

int32_t Run::reserve(uint32_t number, uint64_t bytes, const char *place,
                     const Message &message) {
  Reserve &reserve = reserves[number];
  if (reserve.bytes < bytes) {
    if (buffers[number])
      state->driver.cuMemFree_v2(buffers[number]);
    buffers[number] = 0;
    reserve = {};
    if (int32_t status =
            allocate(*state, buffers[number], bytes, place, message))
      return status;
    reserve.bytes = bytes;
  }
  reserve.used = bytes;
  return INGOT_ABI_OK;
}

Result Run::shadow(uint32_t number, uint64_t bytes, void *&host) {
  Reserve &reserve = reserves[numTensors() + number];
  if (reserve.bytes < bytes) {
    if (shadows[number])
      state->driver.cuMemFreeHost(shadows[number]);
    shadows[number] = nullptr;
    reserve = {};
    if (Result result =
            state->driver.cuMemHostAlloc(&shadows[number], bytes, 0))
      return result;
    reserve.bytes = bytes;
  }
  reserve.used = bytes;
  host = shadows[number];
  return success;
}

void Run::endRun() {
  heap.endRun(state->driver);
  const uint32_t count = numTensors();
  for (uint32_t i = 0; i < count; ++i)
    if (reserves[i].endRun()) {
      state->driver.cuMemFree_v2(buffers[i]);
      buffers[i] = 0;
    }
  for (uint32_t i = 0; i <= count; ++i)
    if (reserves[count + i].endRun()) {
      state->driver.cuMemFreeHost(shadows[i]);
      shadows[i] = nullptr;
    }
}

Run *ingot::cuda::makeRun(State &state, int32_t &status,
                          const Message &message) {
  const ingot_cuda_program &program = *state.program;
  const uint32_t count = program.num_inputs + program.num_outputs;
  auto *run = static_cast<Run *>(calloc(1, sizeof(Run)));
  if (run) {
    run->state = &state;
    run->buffers =
        static_cast<DevicePointer *>(calloc(count + 1, sizeof(DevicePointer)));
    run->addresses =
        static_cast<DevicePointer *>(calloc(count + 1, sizeof(DevicePointer)));
    run->tensors = static_cast<ingot_abi_buffer *>(
        calloc(count + 1, sizeof(ingot_abi_buffer)));
    run->shadows = static_cast<void **>(calloc(count + 1, sizeof(void *)));
    run->reserves =
        static_cast<Reserve *>(calloc(2 * count + 1, sizeof(Reserve)));
    run->bytes = static_cast<uint64_t *>(calloc(count + 1, sizeof(uint64_t)));
  }
  if (!run || !run->buffers || !run->addresses || !run->tensors ||
      !run->shadows || !run->reserves || !run->bytes) {
    status = message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory for a run");
  } else {
    status = state.check(
        state.driver.cuStreamCreate(&run->ownStream, streamNonBlocking),
        "cuStreamCreate", message);
    if (!status)
      status = allocate(state, run->arena, program.arena_bytes,
                        " for intermediate results", message);
    if (!status)
      status = run->makeStatus(message);
  }
  if (!status)
    return run;
  if (run)
    destroyRun(run);
  return nullptr;
}

Run *ingot::cuda::takeRun(State &state, int32_t &status,
                          const Message &message) {
  pthread_mutex_lock(&state.mutex);
  Run *run = state.idle;
  if (run)
    state.idle = run->next;
  pthread_mutex_unlock(&state.mutex);
  return run ? run : makeRun(state, status, message);
}

void ingot::cuda::giveBack(Run *run) {
  State &state = *run->state;
  pthread_mutex_lock(&state.mutex);
  run->next = state.idle;
  state.idle = run;
  pthread_mutex_unlock(&state.mutex);
}

int32_t ingot::cuda::waitFor(Run &run, const Message &message) {
  if (!run.isPending)
    return INGOT_ABI_OK;
  run.isPending = false;
  int32_t status;
  if (run.stream == run.ownStream) {
    status = run.wait(message);
  } else {
    status = run.check(run.state->driver.cuEventSynchronize(run.done),
                       "cuEventSynchronize", message);
    run.launches.clear();
  }
  return status ? status : run.reportStatus(message);
}

//===----------------------------------------------------------------------===//
// Functions of ingot_abi_device
//===----------------------------------------------------------------------===//

int32_t ingot::cuda::openSession(void *opaque, void **session, char *error,
                                 uint64_t bytes) {
  State &state = *static_cast<State *>(opaque);
  const Message message{error, bytes};
  Current current(state, message);
  if (current.status)
    return current.status;
  int32_t status = INGOT_ABI_OK;
  if (Run *run = makeRun(state, status, message))
    *session = run;
  return status;
}

void ingot::cuda::closeSession(void *opaque, void *session) {
  State &state = *static_cast<State *>(opaque);
  auto *run = static_cast<Run *>(session);
  // After a fork, the context belongs to the other process.
  if (state.owner != getpid())
    return freeRun(run);
  Current current(state);
  destroyRun(run);
}

int32_t ingot::cuda::waitForSession(void *opaque, void *session, char *error,
                                    uint64_t bytes) {
  State &state = *static_cast<State *>(opaque);
  const Message message{error, bytes};
  Current current(state, message);
  if (current.status)
    return current.status;
  return waitFor(*static_cast<Run *>(session), message);
}
