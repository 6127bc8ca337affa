//===- State.h - a model that is loaded on a GPU ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_STATE_H
#define INGOT_RUNTIME_CUDA_STATE_H

#include "ingot/abi/cuda.h"
#include "runtime/cuda/DriverApi.h"
#include "runtime/cuda/Graphs.h"
#include "runtime/cuda/Heap.h"
#include "runtime/cuda/Launches.h"
#include "runtime/cuda/LayerTimes.h"
#include "runtime/cuda/Ranges.h"
#include "runtime/cuda/Reserve.h"

#include <pthread.h>
#include <sys/types.h>

namespace ingot::cuda {

/// A buffer for one message; `text` may be null.
struct Message {
  char *text;
  uint64_t bytes;

  /// Writes a message unless there is one already. Returns `status`.
  __attribute__((format(printf, 3, 4))) int32_t
  fail(int32_t status, const char *format, ...) const;
};

/// The functions of the driver, by their names.
struct Driver {
#define INGOT_CUDA_FIELD(NAME, TYPES) ingot::cuda::Result(*NAME) TYPES;
  INGOT_CUDA_DRIVER_FUNCTIONS(INGOT_CUDA_FIELD)
#undef INGOT_CUDA_FIELD

  /// Opens the driver library; null is libcuda.so.1.
  int32_t open(const char *path, const Message &message);
  /// Returns the name of a result, e.g. CUDA_ERROR_OUT_OF_MEMORY.
  const char *nameOf(Result result) const;
};

/// Returns true for results that end a context: nothing else works afterwards.
bool endsContext(Result result);

struct State;

/// A session: a stream and memory of the GPU for one run at a time.
struct Run {
  State *state;
  Run *next;
  /// The stream of the current run, which is `ownStream` or the caller's.
  Stream stream;
  Stream ownStream;
  /// Marks the end of a run on the caller's stream; null until it is needed.
  Event done;
  /// True if work is under way that nobody has waited for.
  bool isPending;
  DevicePointer arena;
  /// Memory for each input, then for each output, which may be in host memory.
  DevicePointer *buffers;
  /// Sizes of `buffers`, then of `shadows`.
  Reserve *reserves;
  /// Bytes of the tensors of this call.
  uint64_t *bytes;
  /// Buffers of the call as host code sees them: see addressOfTensor.
  ingot_abi_buffer *tensors;
  /// The addresses of the tensors in GPU memory, then the version of the heap,
  /// which changes with the addresses of its places.
  DevicePointer *addresses;
  Graphs graphs;
  /// Host memory for copies of the arena, then of each tensor; null until it is
  /// needed.
  void **shadows;
  /// Memory of buffers whose sizes only the run knows.
  Heap heap;
  /// The weights in host memory.
  const char *hostWeights;
  /// The observer of the call, and the one that takes its place.
  const ingot_abi_observer *asked;
  ingot_abi_observer observer;
  /// True if `asked` wants the times of layers.
  bool isTimed;
  /// True if `asked` neither wants times nor tensors, but may end the run: the
  /// run waits for nothing, and has graphs.
  bool onlyPolls;
  LayerTimes times;
  /// True if a range of a layer has begun.
  bool isInLayer;
  /// Buffer for the message of the call.
  Message message;
  Launches launches;
  /// The status that kernels write, if the model has checks, and its copy in
  /// host memory.
  DevicePointer deviceStatus;
  uint64_t *status;
  /// True if the status must be cleared before the next run.
  bool hasOldStatus;

  uint32_t numTensors() const;
  /// Returns the first address at which host code sees places of the heap: they
  /// follow the tensors.
  uint64_t heapStart() const { return addressOfTensor(numTensors()); }

  /// Returns the status of a call of the driver, as `State::check` does. A
  /// fault is blamed on the kernels that were launched.
  int32_t check(Result result, const char *call, const Message &message,
                const char *place = "");
  /// Waits for the work of the run.
  int32_t wait(const Message &message);
  /// Makes room for `bytes` bytes in the buffer of a tensor. `place` says what
  /// they are for.
  int32_t reserve(uint32_t number, uint64_t bytes, const char *place,
                  const Message &message);
  /// Gives host memory for copies of tensor `number` - 1, or of the arena.
  Result shadow(uint32_t number, uint64_t bytes, void *&host);
  /// Releases all pieces of the heap, and buffers that are too large for recent
  /// runs. The work of the last run has ended.
  void endRun();

  /// Begins the range of a layer at its first kernel, or ends it. Only runs
  /// with an observer tell layers apart.
  void beginLayer(const char *node);
  void endLayer();
  /// Records the end of a layer's work.
  int32_t markLayer(const LayerTimes::Layer &layer, const Message &message);
  /// Tells the observer the times of layers, whose work has ended.
  int32_t reportTimes(const Message &message);
  /// Releases the events. After a fork, `isOurs` is false.
  void freeTimes(bool isOurs);

  /// Allocates the status.
  int32_t makeStatus(const Message &message);
  void freeStatus();
  /// Enqueues a copy of zeros to a status that an earlier run has left.
  int32_t clearStatus(const Message &message);
  /// Enqueues a copy of the status.
  int32_t copyStatus(const Message &message);
  /// Returns INGOT_ABI_RUNTIME_CHECK with a message if a check of kernels has
  /// failed. The work has ended. The next run begins without a failure.
  int32_t reportStatus(const Message &message);
};

/// A loaded model.
struct State {
  Driver driver;
  const ingot_cuda_program *program;
  const ingot_abi_host *host;
  Device device;
  Context context;
  Module module;
  Function *functions;
  DevicePointer weights;
  /// True if runs wait at the end of each layer (CUDA_LAUNCH_BLOCKING=1), so
  /// that the message of a fault names the layer.
  bool isBlocking;
  /// Ranges of a profiler, and the name of those of runs: the model's file.
  Ranges ranges;
  char name[64];
  /// The process that loaded the model. A context does not survive a fork.
  pid_t owner;
  pthread_mutex_t mutex;
  /// Sessions for callers that have none, which nobody uses.
  Run *idle;
  /// The stream of copies that have none; null until it is needed.
  Stream copies;
  /// The fault that ended the context, and its message.
  Result fault;
  char faultText[512];

  /// Returns the status of a call of the driver, with a message. `place` says
  /// where it failed, e.g. " in kernel 'x'".
  int32_t check(Result result, const char *call, const Message &message,
                const char *place = "");
  /// Fails in a process that did not load the model, and after a fault.
  int32_t checkUsable(const Message &message);
  /// Fails if the stream does not belong to the model's context, or if it
  /// captures a graph.
  int32_t checkStream(Stream stream, const Message &message);
  /// Fails if an address is not in memory of the model's device. `place` says
  /// which one, e.g. " for input 0".
  int32_t checkAddress(const void *data, const char *place,
                       const Message &message);
  /// Fails if an address is in memory of a GPU that the host cannot access.
  int32_t checkHostAddress(const void *data, const char *place,
                           const Message &message);
};

inline uint32_t Run::numTensors() const {
  return state->program->num_inputs + state->program->num_outputs;
}

/// Does the pending work of a run whose host code needs a result or gives one.
/// Ends the run if that fails.
void catchUp(ingot_abi_call *call);

/// Ends the run of `call` if a call of the driver failed.
void endIf(ingot_abi_call *call, Result result, const char *name,
           const char *place = "");

/// The parameters of a launch, as the driver takes them.
struct KernelArguments {
  KernelArguments(const Run &run, const ingot_cuda_kernel &kernel,
                  const uint64_t *words);
  KernelArguments(const KernelArguments &) = delete;
  uint64_t words[INGOT_CUDA_MAX_PARAMETERS];
  void *pointers[INGOT_CUDA_MAX_PARAMETERS];
};

/// Makes the model's context current as long as it lives. Calls of the driver
/// do not disturb captures of the caller meanwhile.
class Current {
public:
  explicit Current(State &state) : state(state) { push(); }
  /// Begins a call of the host. `status` is a failure if the model cannot be
  /// used any more.
  Current(State &state, const Message &message)
      : status(state.checkUsable(message)), state(state) {
    if (status)
      return;
    push();
    status = state.check(result, "cuCtxPushCurrent_v2", message);
  }
  ~Current() {
    Context popped;
    if (hasMode)
      state.driver.cuThreadExchangeStreamCaptureMode(&mode);
    if (!result)
      state.driver.cuCtxPopCurrent_v2(&popped);
  }
  Current(const Current &) = delete;

  Result result = invalidContext;
  int32_t status = 0;

private:
  void push() {
    result = state.driver.cuCtxPushCurrent_v2(state.context);
    if (!result)
      hasMode = !state.driver.cuThreadExchangeStreamCaptureMode(&mode);
  }

  State &state;
  /// The thread's capture mode, which the next exchange restores.
  CaptureMode mode = captureRelaxed;
  bool hasMode = false;
};

/// Allocates memory of the GPU. No bytes need no memory.
int32_t allocate(State &state, DevicePointer &pointer, uint64_t bytes,
                 const char *place, const Message &message);

/// Makes a session, or returns null with a message. The context is current.
Run *makeRun(State &state, int32_t &status, const Message &message);
/// Returns a session that nobody uses, or a new one.
Run *takeRun(State &state, int32_t &status, const Message &message);
/// Lets other calls use the session, whose work has ended.
void giveBack(Run *run);
/// Waits for the work of a session.
int32_t waitFor(Run &run, const Message &message);
/// Waits for the work of a session, and releases the session.
void destroyRun(Run *run);
/// Frees what a session has in host memory.
void freeRun(Run *run);

/// Functions of ingot_abi_device.
int32_t openSession(void *state, void **session, char *error, uint64_t bytes);
void closeSession(void *state, void *session);
int32_t waitForSession(void *state, void *session, char *error, uint64_t bytes);

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_STATE_H
