//===- DeviceTest.cpp - the choice between GPUs and CPUs ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test runs in a child process, because a process opens its drivers only
// once. No test uses a GPU of the machine: the child finds no libcuda.so.1, or
// the emulated one.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <algorithm>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot::test;

namespace {

/// How a child process has ended: its exit code, and its standard error.
struct Outcome {
  int code;
  std::string text;
};

/// The choices of a caller.
struct Request {
  const char *artifact = "cuda_or_cpu";
  /// ingot_model_options.device, and the variable INGOT_DEVICE.
  const char *device = nullptr, *variable = nullptr;
  /// Value of INGOT_EMUGPU.
  const char *machine = "";
  /// True to open the emulated driver under the name of the usual one.
  bool hasGpu = false;
  uint32_t flags = 0;
  const char *emulator = INGOT_TEST_EMULATED_DRIVER;
};

/// Loads the model and runs it on ones. Prints its target and an element of the
/// result, or the message of the error.
void loadAndRun(const Request &request) {
  request.variable ? setenv("INGOT_DEVICE", request.variable, 1)
                   : unsetenv("INGOT_DEVICE");
  setenv("INGOT_EMUGPU", request.machine, 1);
  setenv("INGOT_EMULATED_DRIVER", request.emulator, 1);
  // A library that is loaded already is found by its name.
  if (request.hasGpu)
    dlopen(INGOT_TEST_EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.device = request.device;
  options.flags = request.flags;
  ingot_model *model = nullptr;
  if (ingot_model_load(artifactPath(request.artifact).c_str(), &options, &model,
                       &error)) {
    fprintf(stderr, "%s", error.message);
    _exit(error.status);
  }
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  fprintf(stderr, "%s", info.target);
  if (request.flags & INGOT_MODEL_DESCRIBE_ONLY)
    _exit(0);
  ingot_context *context = nullptr;
  int32_t x[32], y[32] = {};
  std::fill(x, x + 32, 1);
  int64_t dims[] = {32}, written[] = {0};
  const ingot_input input =
      ingot_input_make(x, sizeof(x), dims, 1, INGOT_INT32);
  const ingot_output output =
      ingot_output_make(y, sizeof(y), written, 1, INGOT_INT32);
  if (ingot_context_create(model, nullptr, &context, &error) ||
      ingot_context_run(context, &input, 1, &output, 1, nullptr, &error)) {
    fprintf(stderr, ": %s", error.message);
    _exit(error.status);
  }
  fprintf(stderr, ": %d", y[31]);
  ingot_context_release(context);
  ingot_model_release(model);
  _exit(0);
}

Outcome inChild(const Request &request) {
  int ends[2];
  if (pipe(ends))
    return {-1, "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    loadAndRun(request);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, size_t(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

void expectRun(const Request &request, const std::string &text) {
  Outcome outcome = inChild(request);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.text, text);
}

void expectRefusal(const Request &request, ingot_status status,
                   const std::string &part) {
  Outcome outcome = inChild(request);
  EXPECT_EQ(outcome.code, status) << outcome.text;
  EXPECT_NE(outcome.text.find(part), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find('\n'), std::string::npos) << outcome.text;
}

/// Returns true if this machine has a driver, which these tests must not use.
bool hasDriver() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver)
    dlclose(driver);
  return driver;
}

} // namespace

TEST(Device, BestOfTheMachine) {
  Request request;
  request.hasGpu = true;
  expectRun(request, "sm_80: 2");
  for (const char *machine : {"level=0", "level=75", "driver=11080"}) {
    request.machine = machine;
    expectRun(request, "x86-64: 3");
  }
  // Other failures are reported, although there is code for CPUs.
  request.machine = "fail=cuModuleLoadData:1";
  expectRefusal(request, INGOT_BACKEND_ERROR,
                "cuModuleLoadData failed: CUDA_ERROR_UNKNOWN");
}

TEST(Device, NoDriver) {
  if (hasDriver())
    GTEST_SKIP() << "this machine has a driver";
  expectRun({}, "x86-64: 3");
  Request request;
  request.artifact = "cuda";
  expectRefusal(request, INGOT_UNSUPPORTED_DEVICE, "no CUDA driver: ");
  request.artifact = "cuda_or_cpu";
  request.device = "cuda";
  expectRefusal(request, INGOT_UNSUPPORTED_DEVICE, "no CUDA driver: ");
}

TEST(Device, Named) {
  Request request;
  request.hasGpu = true;
  request.device = "cpu";
  expectRun(request, "x86-64: 3");
  for (const char *device : {"cuda", "cuda:0", "emulated"}) {
    request.device = device;
    expectRun(request, "sm_80: 2");
  }
  request.device = "cuda:1";
  expectRefusal(request, INGOT_UNSUPPORTED_DEVICE,
                "there is no CUDA device 1: this machine has 1");
  // A device that was named is not replaced.
  request.device = "cuda";
  request.machine = "level=75";
  expectRefusal(request, INGOT_UNSUPPORTED_DEVICE,
                "CUDA device 0 is sm_75, but the model has code for sm_80");
}

TEST(Device, NamedByTheEnvironment) {
  Request request;
  request.variable = "emulated";
  expectRun(request, "sm_80: 2");
  request.device = "cpu";
  expectRun(request, "x86-64: 3");
  request.device = nullptr;
  request.variable = "tpu";
  expectRefusal(request, INGOT_INVALID_ARGUMENT,
                "INGOT_DEVICE is 'tpu', but must be cpu, cuda, cuda:N or "
                "emulated");
  request.variable = "";
  request.hasGpu = true;
  expectRun(request, "sm_80: 2");
}

TEST(Device, EmulatorIsMissing) {
  Request request;
  request.device = "emulated";
  request.emulator = "/nowhere/libcuda.so.1";
  expectRefusal(request, INGOT_NOT_FOUND,
                "INGOT_EMULATED_DRIVER names '/nowhere/libcuda.so.1', which "
                "cannot be read");
}

TEST(Device, ArtifactsOfOneKind) {
  Request request;
  request.artifact = "cuda";
  request.device = "cpu";
  expectRefusal(request, INGOT_UNSUPPORTED_DEVICE,
                "was compiled for sm_80, and holds no code for this CPU");
  request.artifact = "static";
  request.device = "emulated";
  expectRefusal(request, INGOT_UNSUPPORTED_DEVICE,
                "has no code for GPUs; compile it with --target=cuda");
  request.artifact = "for_cuda";
  expectRefusal(request, INGOT_UNSUPPORTED_DEVICE,
                "has code for GPUs (sm_90) that needs another CPU beside the "
                "GPU");
}

TEST(Device, DescriptionNeedsNoDevice) {
  Request request;
  request.flags = INGOT_MODEL_DESCRIBE_ONLY;
  expectRun(request, "x86-64");
  request.device = "cuda";
  expectRun(request, "sm_80");
  request.artifact = "cuda";
  request.device = nullptr;
  expectRun(request, "sm_80");
}
