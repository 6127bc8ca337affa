//===- Harness.cpp - a model on the emulated GPU --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::test;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Returns a kernel that adds words of x and y.
static std::string kernel(const std::string &name, const std::string &target) {
  return ".visible .entry " + name +
         "(.param .u64 x, .param .u64 y, .param .u64 sum)\n" + R"({
  .reg .b32 %r<6>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  ld.param.u64 %d2, [sum];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  shl.b32 %r1, %r1, 6;
  add.u32 %r0, %r0, %r1;
  shl.b32 %r0, %r0, 2;
  cvt.u64.u32 %d3, %r0;
  add.u64 %d4, %d0, %d3;
  add.u64 %d5, %d1, %d3;
  add.u64 %d6, %d2, %d3;
  ld.global.u32 %r2, [%d4];
  ld.global.u32 %r3, [%d5];
  add.u32 %r4, %r2, %r3;
  mov.u64 %d7, 0;
  st.global.u32 [)" +
         target + "], %r4;\n  ret;\n}\n";
}

/// A kernel whose check fails.
static const char failedCheck[] = R"(.visible .entry check(.param .u64 status)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %d<3>;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra end;
  ld.param.u64 %d0, [status];
  mov.u64 %d1, 1;
  st.global.u64 [%d0], %d1;
  mov.u64 %d1, 41;
  st.global.u64 [%d0+8], %d1;
  mov.u64 %d1, 42;
  st.global.u64 [%d0+16], %d1;
end:
  ret;
}
)";

std::string ingot::test::kernelText() {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" +
         kernel("add", "%d6") + kernel("fault", "%d7") + failedCheck;
}

/// Launches kernel `number` for all elements.
static void launch(ingot_abi_call *call, uint64_t number, const void *x,
                   const void *y, void *sum) {
  const uint64_t words[] = {uint64_t(x), uint64_t(y), uint64_t(sum)};
  ingot_cuda_launch(call, number, numElements / 64, words);
}

/// Reports the end of a layer, as generated code does.
static void endLayer(ingot_abi_call *call, uint64_t layer) {
  if (call->observer && !call->status)
    call->status = call->observer->layer_end(call->observer->user, layer, 0, 0);
}

static void computeModel(ingot_abi_call *call) {
  launch(call, addKernel, call->inputs[0].data, call->weights, call->arena);
  endLayer(call, 0);
  launch(call, addKernel, call->arena, call->arena, call->outputs[0].data);
  endLayer(call, 1);
}

TestModel::TestModel() : driver(INGOT_EMULATED_DRIVER), body(computeModel) {
  images = {{INGOT_CUDA_PTX, 80, text.c_str(), text.size() + 1}};
  kernels[addKernel] = {"add", "node of add", 64, 0, 3, 0};
  kernels[faultKernel] = {"fault", "node of fault", 64, 0, 3, 0};
  kernels[checkKernel] = {"check", "node of check", 32, 0, 1, 0};
  program.struct_size = sizeof(program);
  program.kernels = kernels;
  program.num_kernels = numKernels;
  program.num_inputs = program.num_outputs = 1;
  program.first_layer = 5;
  program.weights_offset = program.weights_bytes = numBytes;
  program.arena_bytes = numBytes;
  program.input_bytes = program.output_bytes = &tensorBytes;
  program.input_ranks = program.output_ranks = &rank;
  weights.resize(2 * numElements, -1);
  for (uint64_t i = 0; i < numElements; ++i)
    weights[numElements + i] = int32_t(3 * i);
}

int32_t TestModel::load() {
  program.images = images.data();
  program.num_images = uint32_t(images.size());
  ingot_abi_load call = {};
  call.struct_size = loadBytes;
  call.device = device;
  call.host = &host;
  call.weights = weights.data();
  call.weights_bytes = weights.size() * 4;
  call.error = message;
  call.error_bytes = sizeof(message);
  call.driver = driver;
  const int32_t status = ingot_cuda_load(&call, &program);
  state = call.state;
  return status;
}

ingot_abi_buffer ingot::test::bufferOf(void *data, uint32_t memory) {
  ingot_abi_buffer buffer = {};
  buffer.data = data;
  buffer.bytes = numBytes;
  buffer.memory = memory;
  return buffer;
}

int32_t TestModel::run(int32_t value) {
  return run(value, bufferOf(), bufferOf());
}

int32_t TestModel::run(int32_t value, ingot_abi_buffer input,
                       ingot_abi_buffer output,
                       const ingot_abi_observer *observer) {
  std::vector<int32_t> x(numElements), y(numElements);
  for (uint64_t i = 0; i < numElements; ++i)
    x[i] = value + int32_t(i);
  if (!input.data)
    input.data = x.data();
  const bool isChecked = !output.data;
  if (isChecked)
    output.data = y.data();
  char text[sizeof(message)] = "";
  ingot_abi_call call = {};
  call.struct_size = callBytes;
  call.host = &host;
  call.state = state;
  call.session = session;
  call.stream = stream;
  call.inputs = &input;
  call.outputs = &output;
  call.error = text;
  call.error_bytes = sizeof(text);
  call.observer = observer;
  if (const int32_t status = ingot_cuda_run(&call, body)) {
    memcpy(message, text, sizeof(text));
    return status;
  }
  for (uint64_t i = 0; isChecked && i < numElements; ++i)
    if (y[i] != 2 * (value + int32_t(i) + int32_t(3 * i)))
      return -1;
  return INGOT_ABI_OK;
}

void TestModel::unload() {
  ingot_cuda_unload(&host, state);
  state = nullptr;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

Outcome ingot::test::inChild(const std::string &settings,
                             const std::function<int()> &program) {
  int ends[2];
  if (pipe(ends))
    return {-1, "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("INGOT_EMUGPU", settings.c_str(), 1);
    exit(program());
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

std::vector<std::string>
ingot::test::callsOf(const std::string &prefix,
                     const std::function<int()> &program) {
  char path[] = "/tmp/graphs-XXXXXX";
  const int file = mkstemp(path);
  Outcome outcome = inChild("log=" + std::string(path), program);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  std::vector<std::string> calls;
  FILE *log = fdopen(file, "r");
  char line[512];
  while (fgets(line, sizeof(line), log)) {
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, prefix.c_str(), prefix.size()))
      calls.push_back(line);
  }
  fclose(log);
  unlink(path);
  return calls;
}

DriverFunctions::DriverFunctions() {
  void *library = dlopen(INGOT_EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
#define INGOT_CUDA_FIND(NAME, TYPES)                                           \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME));
  INGOT_CUDA_DRIVER_FUNCTIONS(INGOT_CUDA_FIND)
#undef INGOT_CUDA_FIND
}

int ingot::test::lifeOf(TestModel &model) {
  int32_t status = model.load();
  if (!status)
    status = model.run();
  if (status)
    fprintf(stderr, "%s\n", model.message);
  model.unload();
  cuda::Context current = nullptr;
  if (model.driver)
    DriverFunctions().cuCtxGetCurrent(&current);
  return current ? 100 : status;
}

void ingot::test::expectSuccess(const std::function<int()> &program) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    Outcome outcome = inChild("seed=" + std::to_string(seed), program);
    EXPECT_EQ(outcome.code, 0) << "seed " << seed;
    EXPECT_EQ(outcome.errors, "") << "seed " << seed;
  }
}
