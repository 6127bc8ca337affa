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

struct State;

/// A stream and memory of the GPU for one run.
struct Run {
  State *state;
  Run *next;
  Stream stream;
  DevicePointer arena;
  /// Memory for each input, then for each output, which may be in host memory.
  DevicePointer *buffers;
  /// Bytes of `buffers`, and bytes of the tensors of this call.
  uint64_t *capacities, *bytes;
  /// The call's own buffers, with addresses in GPU memory.
  ingot_abi_buffer *tensors;
  /// Host memory for copies of the arena, then of each tensor, with its bytes;
  /// null until it is needed.
  void **shadows;
  uint64_t *shadowBytes;
  /// The weights in host memory.
  const char *hostWeights;
  /// The observer of the call, and the one that takes its place.
  const ingot_abi_observer *asked;
  ingot_abi_observer observer;
  /// Buffer for the message of the call.
  Message message;
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
  /// The process that loaded the model. A context does not survive a fork.
  pid_t owner;
  pthread_mutex_t mutex;
  /// Runs that nobody uses.
  Run *idle;
  /// The fault that ended the context, and its message.
  Result fault;
  char faultText[256];

  /// Returns the status of a call of the driver, with a message. `place` says
  /// where it failed, e.g. " in kernel 'x'".
  int32_t check(Result result, const char *call, const Message &message,
                const char *place = "");
};

/// Makes the model's context current as long as it lives.
class Current {
public:
  explicit Current(State &state) : state(state) {
    result = state.driver.cuCtxPushCurrent_v2(state.context);
  }
  ~Current() {
    Context popped;
    if (!result)
      state.driver.cuCtxPopCurrent_v2(&popped);
  }
  Current(const Current &) = delete;

  Result result;

private:
  State &state;
};

/// Returns an idle run or a new one, or null with a message.
Run *takeRun(State &state, int32_t &status, const Message &message);
/// Lets other calls use the run, whose work has ended.
void giveBack(Run *run);
void destroyRun(Run *run);

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_STATE_H
