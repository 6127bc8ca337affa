//===- Run.cpp - runs of a model on a GPU ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"
#include "runtime/support/frame.h"
#include "runtime/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace ingot::cuda;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

void ingot::cuda::destroyRun(Run *run) {
  const ingot_cuda_program &program = *run->state->program;
  Driver &driver = run->state->driver;
  // A run whose wait failed may still use its memory.
  if (run->stream)
    driver.cuStreamSynchronize(run->stream);
  for (uint32_t i = 0;
       run->buffers && i < program.num_inputs + program.num_outputs; ++i)
    if (run->buffers[i])
      driver.cuMemFree_v2(run->buffers[i]);
  if (run->arena)
    driver.cuMemFree_v2(run->arena);
  if (run->stream)
    driver.cuStreamDestroy_v2(run->stream);
  for (uint32_t i = 0;
       run->shadows && i < 1 + program.num_inputs + program.num_outputs; ++i)
    if (run->shadows[i])
      driver.cuMemFreeHost(run->shadows[i]);
  free(run->shadows);
  free(run->capacities);
  free(run->buffers);
  free(run->tensors);
  free(run);
}

/// Allocates memory of the GPU. No bytes need no memory.
static int32_t allocate(State &state, DevicePointer &pointer, uint64_t bytes,
                        const char *place, const Message &message) {
  if (!bytes)
    return INGOT_ABI_OK;
  char text[128];
  snprintf(text, sizeof(text), "%s of %llu bytes", place,
           static_cast<unsigned long long>(bytes));
  return state.check(state.driver.cuMemAlloc_v2(&pointer, bytes),
                     "cuMemAlloc_v2", message, text);
}

Run *ingot::cuda::takeRun(State &state, int32_t &status,
                          const Message &message) {
  pthread_mutex_lock(&state.mutex);
  Run *run = state.idle;
  if (run)
    state.idle = run->next;
  pthread_mutex_unlock(&state.mutex);
  if (run)
    return run;
  const ingot_cuda_program &program = *state.program;
  const uint32_t count = program.num_inputs + program.num_outputs;
  run = static_cast<Run *>(calloc(1, sizeof(Run)));
  if (run) {
    run->state = &state;
    run->buffers =
        static_cast<DevicePointer *>(calloc(count + 1, sizeof(DevicePointer)));
    run->tensors = static_cast<ingot_abi_buffer *>(
        calloc(count + 1, sizeof(ingot_abi_buffer)));
    run->shadows = static_cast<void **>(calloc(count + 1, sizeof(void *)));
    run->capacities =
        static_cast<uint64_t *>(calloc(3 * count + 2, sizeof(uint64_t)));
    if (run->capacities) {
      run->bytes = run->capacities + count;
      run->shadowBytes = run->bytes + count;
    }
  }
  if (!run || !run->buffers || !run->tensors || !run->shadows ||
      !run->capacities) {
    status = message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory for a run");
  } else {
    status = state.check(
        state.driver.cuStreamCreate(&run->stream, streamNonBlocking),
        "cuStreamCreate", message);
    if (!status)
      status = allocate(state, run->arena, program.arena_bytes,
                        " for intermediate results", message);
  }
  if (!status)
    return run;
  if (run)
    destroyRun(run);
  return nullptr;
}

void ingot::cuda::giveBack(Run *run) {
  State &state = *run->state;
  pthread_mutex_lock(&state.mutex);
  run->next = state.idle;
  state.idle = run;
  pthread_mutex_unlock(&state.mutex);
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

namespace {

/// The largest access of a kernel, in bytes. Buffers in GPU memory are aligned
/// to it.
constexpr unsigned bufferAlignment = 16;

/// The buffers of one call.
struct Transfer {
  Run &run;
  const ingot_abi_call &call;
  Message message;

  State &state() { return *run.state; }
  int32_t checkPointer(const void *data, const char *place);
  int32_t place(const ingot_abi_buffer &given, uint32_t number, uint64_t bytes,
                bool isInput);
  int32_t placeAll();
  int32_t copyOutputs();
};

} // namespace

/// Fails if `data` is not in memory of the model's device, or is not aligned
/// as kernels need it.
int32_t Transfer::checkPointer(const void *data, const char *place) {
  Driver &driver = state().driver;
  const DevicePointer pointer = uintptr_t(data);
  MemoryType type = memoryHost;
  int device = -1;
  if (driver.cuPointerGetAttribute(&type, pointerMemoryType, pointer) ||
      type != memoryDevice ||
      driver.cuPointerGetAttribute(&device, pointerDevice, pointer) ||
      device != state().device)
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the address%s is not in memory of CUDA device %d",
                        place, state().device);
  if (pointer % bufferAlignment)
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the address%s is not a multiple of %u", place,
                        bufferAlignment);
  return INGOT_ABI_OK;
}

/// Gives buffer `number` an address in GPU memory. Copies an input from host
/// memory.
int32_t Transfer::place(const ingot_abi_buffer &given, uint32_t number,
                        uint64_t bytes, bool isInput) {
  Driver &driver = state().driver;
  char place[64];
  snprintf(place, sizeof(place), " for %s %u", isInput ? "input" : "output",
           isInput ? number : number - state().program->num_inputs);
  ingot_abi_buffer &buffer = run.tensors[number];
  buffer = given;
  run.bytes[number] = 0;
  // Host code writes an output whose size only the run knows.
  if (bytes == INGOT_CUDA_OPEN && !isInput)
    return given.memory == INGOT_ABI_MEMORY_HOST
               ? INGOT_ABI_OK
               : message.fail(INGOT_ABI_INVALID_ARGUMENT,
                              "the memory%s must be in host memory, because "
                              "its size is open",
                              place);
  if (bytes == INGOT_CUDA_OPEN)
    bytes = given.bytes;
  run.bytes[number] = bytes;
  if (given.memory == INGOT_ABI_MEMORY_CUDA)
    return bytes ? checkPointer(given.data, place) : INGOT_ABI_OK;
  if (run.capacities[number] < bytes) {
    if (run.buffers[number])
      driver.cuMemFree_v2(run.buffers[number]);
    run.buffers[number] = 0;
    run.capacities[number] = 0;
    if (int32_t status =
            allocate(state(), run.buffers[number], bytes, place, message))
      return status;
    run.capacities[number] = bytes;
  }
  buffer.data = reinterpret_cast<void *>(uintptr_t(run.buffers[number]));
  buffer.memory = INGOT_ABI_MEMORY_CUDA;
  if (!isInput || !bytes)
    return INGOT_ABI_OK;
  return state().check(driver.cuMemcpyHtoDAsync_v2(
                           run.buffers[number], given.data, bytes, run.stream),
                       "cuMemcpyHtoDAsync_v2", message, place);
}

int32_t Transfer::placeAll() {
  const ingot_cuda_program &program = *state().program;
  for (uint32_t i = 0; i < program.num_inputs; ++i)
    if (int32_t status = place(call.inputs[i], i, program.input_bytes[i], true))
      return status;
  for (uint32_t i = 0; i < program.num_outputs; ++i)
    if (int32_t status = place(call.outputs[i], program.num_inputs + i,
                               program.output_bytes[i], false))
      return status;
  return INGOT_ABI_OK;
}

int32_t Transfer::copyOutputs() {
  const ingot_cuda_program &program = *state().program;
  for (uint32_t i = 0; i < program.num_outputs; ++i) {
    if (call.outputs[i].memory == INGOT_ABI_MEMORY_CUDA ||
        !program.output_bytes[i] || program.output_bytes[i] == INGOT_CUDA_OPEN)
      continue;
    if (int32_t status = state().check(state().driver.cuMemcpyDtoHAsync_v2(
                                           call.outputs[i].data,
                                           run.buffers[program.num_inputs + i],
                                           program.output_bytes[i], run.stream),
                                       "cuMemcpyDtoHAsync_v2", message))
      return status;
  }
  return INGOT_ABI_OK;
}

//===----------------------------------------------------------------------===//
// Functions of ingot/abi/cuda.h
//===----------------------------------------------------------------------===//

/// Waits for the layer's work, so that the observer can measure its time.
static int32_t layerEnd(void *user, uint64_t layer, uint64_t flops,
                        uint64_t bytes) {
  auto *run = static_cast<Run *>(user);
  State &state = *run->state;
  if (int32_t status =
          state.check(state.driver.cuStreamSynchronize(run->stream),
                      "cuStreamSynchronize", run->message))
    return status;
  return run->asked->layer_end(
      run->asked->user, state.program->first_layer + layer, flops, bytes);
}

static int32_t poll(void *user) {
  const ingot_abi_observer *asked = static_cast<Run *>(user)->asked;
  return asked->poll(asked->user);
}

int32_t ingot_cuda_run(ingot_abi_call *given, void (*body)(ingot_abi_call *)) {
  // A caller may be older and have a shorter struct.
  ingot_abi_call call = {};
  memcpy(&call, given,
         given->struct_size < sizeof(call) ? given->struct_size : sizeof(call));
  call.struct_size = sizeof(call);
  State &state = *static_cast<State *>(call.state);
  Message message{call.error, call.error_bytes};
  if (message.text && message.bytes)
    message.text[0] = 0;
  if (state.owner != getpid())
    return message.fail(INGOT_ABI_BACKEND_ERROR,
                        "the model was loaded on a GPU before a fork; load it "
                        "in the new process");
  pthread_mutex_lock(&state.mutex);
  const bool isEnded = state.fault != success;
  pthread_mutex_unlock(&state.mutex);
  if (isEnded)
    return message.fail(INGOT_ABI_BACKEND_ERROR,
                        "the GPU failed in an earlier run: %s",
                        state.faultText);
  Current current(state);
  if (int32_t status =
          state.check(current.result, "cuCtxPushCurrent_v2", message))
    return status;
  int32_t status = INGOT_ABI_OK;
  Run *run = takeRun(state, status, message);
  if (!run)
    return status;
  Transfer transfer{*run, call, message};
  status = transfer.placeAll();
  if (!status) {
    ingot_abi_call device = call;
    device.state = run;
    device.weights = reinterpret_cast<void *>(uintptr_t(state.weights));
    device.arena = reinterpret_cast<void *>(uintptr_t(run->arena));
    device.inputs = run->tensors;
    device.outputs = run->tensors + state.program->num_inputs;
    run->asked = call.observer;
    run->hostWeights = static_cast<const char *>(call.weights);
    if (run->hostWeights)
      run->hostWeights += state.program->weights_offset;
    run->message = message;
    if (call.observer) {
      run->observer = *call.observer;
      run->observer.user = run;
      run->observer.layer_end = layerEnd;
      run->observer.tensor = nullptr;
      run->observer.poll = call.observer->poll ? poll : nullptr;
      device.observer = &run->observer;
    }
    status = ingot_support_run(&device, body);
  }
  if (!status)
    status = transfer.copyOutputs();
  // Also after a failure, nothing of the run may be under way.
  if (int32_t waited =
          state.check(state.driver.cuStreamSynchronize(run->stream),
                      "cuStreamSynchronize", message);
      waited && !status)
    status = waited;
  giveBack(run);
  return status;
}

void ingot_cuda_launch(ingot_abi_call *call, uint64_t number, uint64_t blocks,
                       const uint64_t *words) {
  if (!blocks || call->status)
    return;
  Run &run = *static_cast<Run *>(call->state);
  State &state = *run.state;
  const ingot_cuda_kernel &kernel = state.program->kernels[number];
  constexpr uint64_t mostBlocks = (uint64_t(1) << 31) - 1;
  auto **parameters = static_cast<void **>(
      __builtin_alloca((kernel.num_parameters + 1) * sizeof(void *)));
  for (uint32_t i = 0; i < kernel.num_parameters; ++i)
    parameters[i] = const_cast<uint64_t *>(words + i);
  Result result = success;
  if (blocks <= mostBlocks)
    result = state.driver.cuLaunchKernel(
        state.functions[number], unsigned(blocks), 1, 1, kernel.threads, 1, 1,
        kernel.shared_bytes, run.stream, parameters, nullptr);
  // Launches are frequent, so only a failure makes its text.
  if (!result && blocks <= mostBlocks)
    return;
  Message message{call->error, call->error_bytes};
  char place[320];
  snprintf(place, sizeof(place), " in kernel '%s' of node '%s'", kernel.name,
           kernel.node);
  call->status = result ? state.check(result, "cuLaunchKernel", message, place)
                        : message.fail(INGOT_ABI_BACKEND_ERROR,
                                       "too many blocks%s", place);
}

void ingot_cuda_copy(ingot_abi_call *call, void *to, const void *from,
                     uint64_t bytes) {
  if (!bytes || call->status)
    return;
  Run &run = *static_cast<Run *>(call->state);
  call->status = run.state->check(
      run.state->driver.cuMemcpyDtoDAsync_v2(DevicePointer(uintptr_t(to)),
                                             DevicePointer(uintptr_t(from)),
                                             bytes, run.stream),
      "cuMemcpyDtoDAsync_v2", {call->error, call->error_bytes});
}

/// Ends the run if a call of the driver failed.
static void endIf(ingot_abi_call *call, Result result, const char *name,
                  const char *place = "") {
  Run &run = *static_cast<Run *>(call->state);
  if (int32_t status = run.state->check(
          result, name, {call->error, call->error_bytes}, place)) {
    call->status = status;
    ingot_support_stop(call);
  }
}

/// Returns true if `address` is one of `bytes` bytes from `start` on.
static bool isWithin(uintptr_t address, uintptr_t start, uint64_t bytes) {
  return address - start < bytes;
}

uintptr_t ingot_cuda_shadow(ingot_abi_call *call, uintptr_t device) {
  Run &run = *static_cast<Run *>(call->state);
  State &state = *run.state;
  const ingot_cuda_program &program = *state.program;
  if (isWithin(device, state.weights, program.weights_bytes))
    return reinterpret_cast<uintptr_t>(run.hostWeights) +
           (device - state.weights);
  const uint32_t count = program.num_inputs + program.num_outputs;
  // Number 0 is the arena, the others are the tensors.
  for (uint32_t i = 0; i <= count; ++i) {
    const uintptr_t start =
        i ? reinterpret_cast<uintptr_t>(run.tensors[i - 1].data)
          : uintptr_t(run.arena);
    const uint64_t bytes = i ? run.bytes[i - 1] : program.arena_bytes;
    if (!isWithin(device, start, bytes))
      continue;
    if (run.shadowBytes[i] < bytes) {
      if (run.shadows[i])
        state.driver.cuMemFreeHost(run.shadows[i]);
      run.shadows[i] = nullptr;
      run.shadowBytes[i] = 0;
      endIf(call, state.driver.cuMemHostAlloc(&run.shadows[i], bytes, 0),
            "cuMemHostAlloc", " for copies in host memory");
      run.shadowBytes[i] = bytes;
    }
    return reinterpret_cast<uintptr_t>(run.shadows[i]) + (device - start);
  }
  return device;
}

/// Returns true if a buffer at `host` needs copies of the bytes at `device`.
static bool needsCopy(const Run &run, const void *host, const void *device,
                      uint64_t bytes) {
  return bytes && host != device &&
         !isWithin(reinterpret_cast<uintptr_t>(host),
                   reinterpret_cast<uintptr_t>(run.hostWeights),
                   run.state->program->weights_bytes);
}

void ingot_cuda_to_host(ingot_abi_call *call, void *to, const void *from,
                        uint64_t bytes) {
  Run &run = *static_cast<Run *>(call->state);
  if (needsCopy(run, to, from, bytes))
    endIf(call,
          run.state->driver.cuMemcpyDtoHAsync_v2(
              to, DevicePointer(uintptr_t(from)), bytes, run.stream),
          "cuMemcpyDtoHAsync_v2");
}

void ingot_cuda_to_device(ingot_abi_call *call, void *to, const void *from,
                          uint64_t bytes) {
  Run &run = *static_cast<Run *>(call->state);
  if (needsCopy(run, from, to, bytes))
    endIf(call,
          run.state->driver.cuMemcpyHtoDAsync_v2(DevicePointer(uintptr_t(to)),
                                                 from, bytes, run.stream),
          "cuMemcpyHtoDAsync_v2");
}

void ingot_cuda_wait(ingot_abi_call *call) {
  Run &run = *static_cast<Run *>(call->state);
  if (call->status)
    ingot_support_stop(call);
  endIf(call, run.state->driver.cuStreamSynchronize(run.stream),
        "cuStreamSynchronize");
}
