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
#include <string.h>

using namespace ingot::cuda;

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
  /// The name of a buffer in messages, e.g. " for input 0".
  struct Name {
    Name(const Transfer &transfer, uint32_t number);
    char text[64];
  };

  int32_t checkBuffer(const ingot_abi_buffer &given, uint32_t number);
  int32_t place(const ingot_abi_buffer &given, uint32_t number, uint64_t bytes,
                bool isInput);
  int32_t placeAll();
  int32_t copyOutputs();
};

} // namespace

Transfer::Name::Name(const Transfer &transfer, uint32_t number) {
  const uint32_t numInputs = transfer.run.state->program->num_inputs;
  const bool isInput = number < numInputs;
  snprintf(text, sizeof(text), " for %s %u", isInput ? "input" : "output",
           isInput ? number : number - numInputs);
}

/// Fails if a buffer in GPU memory is not in memory of the model's device, or
/// is not aligned as kernels need it.
int32_t Transfer::checkBuffer(const ingot_abi_buffer &given, uint32_t number) {
  const bool isRight = given.device == uint32_t(state().device) &&
                       uintptr_t(given.data) % bufferAlignment == 0 &&
                       !state().checkAddress(given.data, "", {nullptr, 0});
  if (isRight)
    return INGOT_ABI_OK;
  const Name name(*this, number);
  const char *place = name.text;
  if (given.device != uint32_t(state().device))
    return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                        "the memory%s is said to be of CUDA device %u, but the "
                        "model runs on CUDA device %d",
                        place, given.device, state().device);
  if (int32_t status = state().checkAddress(given.data, place, message))
    return status;
  return message.fail(INGOT_ABI_INVALID_ARGUMENT,
                      "the address%s is not a multiple of %u", place,
                      bufferAlignment);
}

/// Gives buffer `number` an address in GPU memory. Copies an input from host
/// memory.
int32_t Transfer::place(const ingot_abi_buffer &given, uint32_t number,
                        uint64_t bytes, bool isInput) {
  ingot_abi_buffer &buffer = run.tensors[number];
  buffer = given;
  run.bytes[number] = 0;
  const bool isOnHost = given.memory == INGOT_ABI_MEMORY_HOST;
  if (isOnHost && given.data)
    if (int32_t status = state().checkHostAddress(
            given.data, Name(*this, number).text, message))
      return status;
  if (bytes == INGOT_CUDA_STRINGS)
    return isOnHost ? INGOT_ABI_OK
                    : message.fail(INGOT_ABI_INVALID_ARGUMENT,
                                   "strings must be in host memory, but the "
                                   "memory%s is not",
                                   Name(*this, number).text);
  // An output whose size only the run knows is in the heap until then.
  if (bytes == INGOT_CUDA_OPEN && !isInput && isOnHost)
    return INGOT_ABI_OK;
  if (bytes == INGOT_CUDA_OPEN)
    bytes = given.bytes;
  run.bytes[number] = bytes;
  buffer.data = reinterpret_cast<void *>(uintptr_t(addressOfTensor(number)));
  buffer.memory = INGOT_ABI_MEMORY_CUDA;
  run.addresses[number] = uintptr_t(given.data);
  if (!isOnHost)
    return bytes ? checkBuffer(given, number) : INGOT_ABI_OK;
  if (int32_t status =
          run.reserve(number, bytes, Name(*this, number).text, message))
    return status;
  run.addresses[number] = run.buffers[number];
  if (!isInput || !bytes)
    return INGOT_ABI_OK;
  const Result result = state().driver.cuMemcpyHtoDAsync_v2(
      run.buffers[number], given.data, bytes, run.stream);
  return result ? state().check(result, "cuMemcpyHtoDAsync_v2", message,
                                Name(*this, number).text)
                : INGOT_ABI_OK;
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
    // Host code passes on strings and outputs of open sizes.
    const uint64_t bytes = program.output_bytes[i];
    if (call.outputs[i].memory == INGOT_ABI_MEMORY_CUDA || !bytes ||
        bytes == INGOT_CUDA_OPEN || bytes == INGOT_CUDA_STRINGS)
      continue;
    if (int32_t status = run.check(
            state().driver.cuMemcpyDtoHAsync_v2(
                call.outputs[i].data, run.buffers[program.num_inputs + i],
                bytes, run.stream),
            "cuMemcpyDtoHAsync_v2", message, " for an output"))
      return status;
  }
  return INGOT_ABI_OK;
}

//===----------------------------------------------------------------------===//
// Functions of ingot/abi/cuda.h
//===----------------------------------------------------------------------===//

/// Records the end of the layer for a profile. An observer that may end the run
/// learns of the layer when its work is in the queue. Otherwise waits for the
/// work, so that the observer learns of it in time.
static int32_t layerEnd(void *user, uint64_t layer, uint64_t flops,
                        uint64_t bytes) {
  auto *run = static_cast<Run *>(user);
  run->endLayer();
  if (run->isTimed)
    if (int32_t status = run->markLayer({layer, flops, bytes}, run->message))
      return status;
  if (run->isTimed ? run->state->isBlocking : !run->onlyPolls)
    if (int32_t status = run->wait(run->message))
      return status;
  if (run->isTimed)
    return run->observer.poll ? run->observer.poll(run) : INGOT_ABI_OK;
  return run->asked->layer_end(
      run->asked->user, run->state->program->first_layer + layer, flops, bytes);
}

static int32_t poll(void *user) {
  const ingot_abi_observer *asked = static_cast<Run *>(user)->asked;
  return asked->poll(asked->user);
}

void Run::beginLayer(const char *node) {
  if (!asked || onlyPolls || isInLayer || !state->ranges.begin)
    return;
  isInLayer = true;
  state->ranges.push(node);
}

void Run::endLayer() {
  if (isInLayer)
    state->ranges.pop();
  isInLayer = false;
}

/// Lets the run observe itself for `asked`, which may be null.
static void observe(Run &run, const ingot_abi_observer *asked) {
  run.asked = asked;
  run.isTimed = run.onlyPolls = false;
  run.times.count = 0;
  if (!asked)
    return;
  // A caller may be older and have a shorter struct.
  ingot_abi_observer &own = run.observer = {};
  memcpy(&own, asked,
         asked->struct_size < sizeof(own) ? asked->struct_size : sizeof(own));
  run.isTimed = own.layer_time;
  run.onlyPolls = own.poll && !own.tensor && !own.layer_time;
  own.struct_size = sizeof(own);
  own.user = &run;
  own.layer_end = layerEnd;
  own.tensor = nullptr;
  own.poll = own.poll ? poll : nullptr;
}

/// Marks the end of the run on the caller's stream, so that a wait does not
/// wait for later work of the caller.
static int32_t markEnd(Run &run, const Message &message) {
  State &state = *run.state;
  if (run.stream == run.ownStream)
    return INGOT_ABI_OK;
  if (!run.done)
    if (int32_t status = state.check(
            state.driver.cuEventCreate(&run.done, eventDisableTiming),
            "cuEventCreate", message))
      return status;
  return state.check(state.driver.cuEventRecord(run.done, run.stream),
                     "cuEventRecord", message);
}

/// Does the work between the copies of inputs and outputs.
static int32_t compute(Run &run, ingot_abi_call &call,
                       void (*body)(ingot_abi_call *), const Message &message) {
  // Other observers learn of the end of each layer, so nothing is deferred.
  beginGraphs(run, call, /*isDirect=*/call.observer && !run.onlyPolls);
  bool isDone;
  int32_t status = replay(run, call.outputs, isDone, message);
  if (isDone)
    return status;
  status = ingot_support_run(&call, body);
  return status ? status : endGraphs(run, call.outputs, message);
}

/// Waits for a run that fails, because nothing of it may be under way. Waits
/// also for a run without a session, and for one with a profile: the times of
/// layers are known when their work has ended. `copied` is the status of the
/// copy of checks.
static int32_t finish(Run &run, int32_t status, int32_t copied,
                      const Message &message) {
  run.isPending = false;
  int32_t ended = run.wait(message);
  if (!ended && !copied)
    ended = run.reportStatus(message);
  if (!status)
    status = ended;
  return !status && run.isTimed ? run.reportTimes(message) : status;
}

/// Does all of a run. The session has no other work.
static int32_t runIn(Run &run, ingot_abi_call &call,
                     void (*body)(ingot_abi_call *), const Message &message) {
  State &state = *run.state;
  Transfer transfer{run, call, message};
  constexpr LayerTimes::Layer none = {LayerTimes::noLayer, 0, 0};
  int32_t status = run.clearStatus(message);
  if (!status && run.isTimed)
    status = run.markLayer(none, message);
  if (!status)
    status = transfer.placeAll();
  if (!status && run.isTimed)
    status = run.markLayer(none, message);
  if (!status) {
    ingot_abi_call device = call;
    device.state = &run;
    device.weights = reinterpret_cast<void *>(uintptr_t(state.weights));
    device.arena = reinterpret_cast<void *>(uintptr_t(run.arena));
    device.inputs = run.tensors;
    device.outputs = run.tensors + state.program->num_inputs;
    run.hostWeights = static_cast<const char *>(call.weights);
    if (run.hostWeights)
      run.hostWeights += state.program->weights_offset;
    run.message = message;
    if (call.observer)
      device.observer = &run.observer;
    status = compute(run, device, body, message);
    // A run may end within a layer.
    run.endLayer();
  }
  if (!status)
    status = transfer.copyOutputs();
  const int32_t copied = run.copyStatus(message);
  if (!status)
    status = copied;
  if (!status)
    status = markEnd(run, message);
  run.isPending = true;
  if (status || !call.session || run.isTimed)
    status = finish(run, status, copied, message);
  return status;
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
  Current current(state, message);
  if (current.status)
    return current.status;
  auto *stream = static_cast<Stream>(call.stream);
  if (int32_t status =
          stream ? state.checkStream(stream, message) : int32_t(INGOT_ABI_OK))
    return status;
  int32_t status = INGOT_ABI_OK;
  auto *session = static_cast<Run *>(call.session);
  Run *run = session ? session : takeRun(state, status, message);
  if (!run)
    return status;
  // A host that has not waited for the session's last run must not lose it.
  if ((status = waitFor(*run, message)))
    return status;
  run->endRun();
  run->stream = stream ? stream : run->ownStream;
  observe(*run, call.observer);
  state.ranges.push(state.name);
  status = runIn(*run, call, body, message);
  state.ranges.pop();
  if (!session)
    giveBack(run);
  return status;
}

void ingot_cuda_launch(ingot_abi_call *call, uint64_t number, uint64_t blocks,
                       const uint64_t *words) {
  if (!blocks || call->status)
    return;
  Run &run = *static_cast<Run *>(call->state);
  const State &state = *run.state;
  const Message message{call->error, call->error_bytes};
  constexpr uint64_t mostBlocks = (uint64_t(1) << 31) - 1;
  if (blocks <= mostBlocks) {
    call->status =
        addStep(run, uint32_t(number), blocks, words,
                state.program->kernels[number].num_parameters, message);
    return;
  }
  char place[placeBytes];
  describeKernel(state.program->kernels[number], place);
  call->status =
      message.fail(INGOT_ABI_BACKEND_ERROR, "too many blocks%s", place);
}

void ingot_cuda_copy(ingot_abi_call *call, void *to, const void *from,
                     uint64_t bytes) {
  if (!bytes || call->status)
    return;
  Run &run = *static_cast<Run *>(call->state);
  const uint64_t words[] = {uintptr_t(to), uintptr_t(from)};
  call->status = addStep(run, Step::copy, bytes, words, 2,
                         {call->error, call->error_bytes});
}

void ingot::cuda::catchUp(ingot_abi_call *call) {
  Run &run = *static_cast<Run *>(call->state);
  needHostCode(run.graphs);
  if (!call->status)
    call->status = flush(run, {call->error, call->error_bytes});
  if (call->status)
    ingot_support_stop(call);
}

void ingot::cuda::endIf(ingot_abi_call *call, Result result, const char *name,
                        const char *place) {
  Run &run = *static_cast<Run *>(call->state);
  if (int32_t status =
          run.check(result, name, {call->error, call->error_bytes}, place)) {
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
  // Only host code reads or writes a shadow.
  needHostCode(run.graphs);
  if (isWithin(device, state.weights, program.weights_bytes))
    return reinterpret_cast<uintptr_t>(run.hostWeights) +
           (device - state.weights);
  const uint32_t count = run.numTensors();
  // Number 0 is the arena, the others are the tensors.
  for (uint32_t i = 0; i <= count; ++i) {
    const uintptr_t start =
        i ? uintptr_t(addressOfTensor(i - 1)) : uintptr_t(run.arena);
    const uint64_t bytes = i ? run.bytes[i - 1] : program.arena_bytes;
    if (!isWithin(device, start, bytes))
      continue;
    void *shadow = nullptr;
    endIf(call, run.shadow(i, bytes, shadow), "cuMemHostAlloc",
          " for copies in host memory");
    return reinterpret_cast<uintptr_t>(shadow) + (device - start);
  }
  void *shadow = nullptr;
  endIf(call, run.heap.shadow(state.driver, device - run.heapStart(), shadow),
        "cuMemHostAlloc", " for copies in host memory");
  return shadow ? reinterpret_cast<uintptr_t>(shadow) : device;
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
  if (!needsCopy(run, to, from, bytes))
    return;
  catchUp(call);
  endIf(call,
        run.state->driver.cuMemcpyDtoHAsync_v2(
            to, translate(run, uintptr_t(from)), bytes, run.stream),
        "cuMemcpyDtoHAsync_v2");
}

void ingot_cuda_to_device(ingot_abi_call *call, void *to, const void *from,
                          uint64_t bytes) {
  Run &run = *static_cast<Run *>(call->state);
  if (!needsCopy(run, from, to, bytes))
    return;
  catchUp(call);
  endIf(call,
        run.state->driver.cuMemcpyHtoDAsync_v2(translate(run, uintptr_t(to)),
                                               from, bytes, run.stream),
        "cuMemcpyHtoDAsync_v2");
}

void ingot_cuda_wait(ingot_abi_call *call) {
  Run &run = *static_cast<Run *>(call->state);
  catchUp(call);
  if (int32_t status = run.wait({call->error, call->error_bytes})) {
    call->status = status;
    ingot_support_stop(call);
  }
}
