//===- Harness.h - a model on the emulated GPU ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_CUDA_HARNESS_H
#define INGOT_TEST_UNIT_CUDA_HARNESS_H

#include "ingot/abi/cuda.h"
#include "tools/emugpu/driver/GraphApi.h"

#include <dlfcn.h>
#include <functional>
#include <stdlib.h>
#include <string>
#include <vector>

namespace ingot::test {

/// The number of elements of each tensor.
constexpr uint64_t numElements = 256;
constexpr uint64_t numBytes = 4 * numElements;

/// Numbers of the test model's kernels.
enum Kernel : uint64_t {
  addKernel,   ///< (x, y, sum)
  faultKernel, ///< the same, but writes to address 0
  checkKernel, ///< (status): stores number 1 and the values 41 and 42
  numKernels
};

/// Returns PTX with the kernels of the test model.
std::string kernelText();

/// A model that computes y = 2 (x + w), with int32 elements.
struct TestModel {
  TestModel();
  TestModel(const TestModel &) = delete;

  std::string text = kernelText();
  std::vector<ingot_cuda_image> images;
  ingot_cuda_kernel kernels[numKernels];
  uint64_t tensorBytes = numBytes;
  uint32_t rank = 0;
  ingot_cuda_program program = {};
  ingot_abi_host host = {};
  /// The weights. Elements that no kernel reads are in front, as many as
  /// weights.
  std::vector<int32_t> weights;

  /// Arguments of the load.
  uint32_t device = 0;
  const char *driver;
  /// Sizes of the structs that the host knows.
  uint32_t loadBytes = sizeof(ingot_abi_load);
  uint32_t callBytes = sizeof(ingot_abi_call);

  void *state = nullptr;
  /// Arguments of the runs.
  void *session = nullptr;
  void *stream = nullptr;
  /// Message of the last failure.
  char message[256] = "";

  int32_t load();
  /// Runs on the inputs `value`, `value` + 1, and so on. Returns the status of
  /// the run, or -1 if the result is wrong.
  int32_t run(int32_t value = 7);
  /// Runs with other buffers. A null address is replaced by memory of the host.
  int32_t run(int32_t value, ingot_abi_buffer input, ingot_abi_buffer output,
              const ingot_abi_observer *observer = nullptr);
  void unload();

  /// The host part of a run, which launches kernels.
  void (*body)(ingot_abi_call *);
};

/// Calls a function of ingot_cuda_device on the model's state. Its message
/// becomes that of the model.
template <typename Function, typename... Arguments>
int32_t callDevice(TestModel &model, Function function,
                   Arguments... arguments) {
  return function(model.state, arguments..., model.message,
                  sizeof(model.message));
}

/// A buffer in memory of the host or of the GPU.
ingot_abi_buffer bufferOf(void *data = nullptr,
                          uint32_t memory = INGOT_ABI_MEMORY_HOST);

/// How a child process has ended.
struct Outcome {
  int code;
  /// Text that the child has printed to standard error.
  std::string errors;
};

/// Runs `program` in a child process with this value of INGOT_EMUGPU. The
/// result of `program` is the exit code.
Outcome inChild(const std::string &settings,
                const std::function<int()> &program);

/// Runs a program and returns the names of its calls of the driver that begin
/// with `prefix`.
std::vector<std::string> callsOf(const std::string &prefix,
                                 const std::function<int()> &program);

/// Loads, runs and unloads the model, and prints the message of a failure to
/// standard error. Returns the status, or 100 if our context stays current.
int lifeOf(TestModel &model);

/// Functions of the emulated driver, which the model has opened before.
struct DriverFunctions {
#define INGOT_CUDA_FIELD(NAME, TYPES) cuda::Result(*NAME) TYPES;
  INGOT_CUDA_DRIVER_FUNCTIONS(INGOT_CUDA_FIELD)
#undef INGOT_CUDA_FIELD
  DriverFunctions();
};

/// The primary context, current in this thread, and functions of the driver.
struct Caller : DriverFunctions {
  Caller() {
    if (cuDevicePrimaryCtxRetain(&context, 0) || cuCtxPushCurrent_v2(context))
      exit(103);
  }
  ~Caller() {
    cuda::Context popped;
    cuCtxPopCurrent_v2(&popped);
    cuDevicePrimaryCtxRelease_v2(0);
  }
  template <typename Function>
  Function *find(const char *name) {
    return reinterpret_cast<Function *>(
        dlsym(dlopen(INGOT_EMULATED_DRIVER, RTLD_NOW), name));
  }
  cuda::Context context;
};

/// Runs a program with each of 16 seeds. It must succeed without a report.
void expectSuccess(const std::function<int()> &program);

} // namespace ingot::test

#endif // INGOT_TEST_UNIT_CUDA_HARNESS_H
