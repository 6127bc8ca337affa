//===- GraphsTest.cpp - runs that are repeated as graphs ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Graphs.h"
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <string.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::test;

/// The number of calls of the body of the current model.
static unsigned bodies = 0;

/// The body of the usual test model, which each body here calls.
static void (*usualBody)(ingot_abi_call *) = TestModel().body;

static void countBody(ingot_abi_call *call) {
  ++bodies;
  usualBody(call);
}

static void add(ingot_abi_call *call, const void *x, const void *y, void *sum) {
  const uint64_t words[] = {uint64_t(x), uint64_t(y), uint64_t(sum)};
  ingot_cuda_launch(call, addKernel, numElements / 64, words);
}

/// Memory of the GPU for inputs and outputs.
static ingot_abi_buffer onGpu(TestModel &model) {
  void *pointer = nullptr;
  if (callDevice(model, ingot_cuda_device.allocate, INGOT_ABI_MEMORY_CUDA,
                 numBytes, &pointer))
    exit(101);
  return bufferOf(pointer, INGOT_ABI_MEMORY_CUDA);
}

static void copy(TestModel &model, const ingot_abi_buffer &to,
                 const ingot_abi_buffer &from) {
  ingot_abi_copy copy = {};
  copy.struct_size = sizeof(copy);
  copy.to_memory = to.memory;
  copy.to = to.data;
  copy.from_memory = from.memory;
  copy.from = from.data;
  copy.bytes = numBytes;
  if (callDevice(model, ingot_cuda_device.copy, &copy))
    exit(102);
}

TEST(Graphs, HostCodeRunsOnce) {
  expectSuccess([] {
    TestModel model;
    model.body = countBody;
    if (model.load())
      return 1;
    for (int32_t value = 0; value < 5; ++value)
      if (model.run(value))
        return 2;
    model.unload();
    return bodies == 1 ? 0 : 3;
  });
}

/// The driver's calls of three runs.
TEST(Graphs, CallsOfTheDriver) {
  EXPECT_EQ(
      callsOf("cuGraph",
              [] {
                TestModel model;
                if (model.load() || model.run(1) || model.run(2) ||
                    model.run(3))
                  return 1;
                model.unload();
                return 0;
              }),
      (std::vector<std::string>{
          "cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphAddKernelNode_v2",
          "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuGraphLaunch",
          "cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy"}));
}

/// Each session has its own graphs.
TEST(Graphs, OfSessions) {
  expectSuccess([] {
    TestModel model;
    model.body = countBody;
    if (model.load())
      return 1;
    void *sessions[2];
    for (void *&session : sessions)
      if (callDevice(model, ingot_cuda_device.open, &session))
        return 2;
    std::vector<int32_t> y(numElements);
    for (int32_t value = 0; value < 3; ++value)
      for (void *session : sessions) {
        model.session = session;
        if (model.run(value, bufferOf(), bufferOf(y.data())) ||
            callDevice(model, ingot_cuda_device.wait, session) ||
            y[5] != 2 * (value + 5 + 15))
          return 3;
      }
    for (void *session : sessions)
      ingot_cuda_device.close(model.state, session);
    model.unload();
    return bodies == 2 ? 0 : 4;
  });
}

/// Nodes are updated if a tensor is elsewhere.
static int moveTensors() {
  TestModel model;
  // Copies, too, get new addresses.
  model.body = [](ingot_abi_call *call) {
    ++bodies;
    add(call, call->inputs[0].data, call->weights, call->arena);
    ingot_cuda_copy(call, call->outputs[0].data, call->arena, numBytes);
  };
  if (model.load())
    return 1;
  const ingot_abi_buffer x[] = {onGpu(model), onGpu(model)};
  const ingot_abi_buffer y[] = {onGpu(model), onGpu(model)};
  std::vector<int32_t> host(numElements);
  const ingot_abi_buffer onHost = bufferOf(host.data());
  int failures = 0;
  for (int32_t run = 0; run < 8; ++run) {
    const ingot_abi_buffer &from = x[run & 1], &to = y[run >> 1 & 1];
    for (uint64_t i = 0; i < numElements; ++i)
      host[i] = run;
    copy(model, from, onHost);
    if (model.run(0, from, to)) {
      ++failures;
      continue;
    }
    copy(model, onHost, to);
    for (uint64_t i = 0; i < numElements; ++i)
      if (host[i] != run + int32_t(3 * i))
        return 2;
  }
  for (const ingot_abi_buffer &buffer : {x[0], x[1], y[0], y[1]})
    ingot_cuda_device.release(model.state, INGOT_ABI_MEMORY_CUDA, buffer.data);
  model.unload();
  return bodies == unsigned(1 + failures) ? failures : 3;
}

TEST(Graphs, MovedTensors) {
  expectSuccess(moveTensors);
  // x moves in each run, y in every second one.
  const std::vector<std::string> calls =
      callsOf("cuGraphExec", [] { return moveTensors(); });
  EXPECT_EQ(std::count(calls.begin(), calls.end(),
                       "cuGraphExecKernelNodeSetParams_v2"),
            7);
  EXPECT_EQ(
      std::count(calls.begin(), calls.end(), "cuGraphExecMemcpyNodeSetParams"),
      3);
}

/// If an update fails, the next run makes the graph again.
TEST(Graphs, UpdatesThatFail) {
  for (const char *name : {"cuGraphExecKernelNodeSetParams_v2:2",
                           "cuGraphExecMemcpyNodeSetParams:2"}) {
    Outcome outcome = inChild("fail=" + std::string(name), moveTensors);
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_EQ(outcome.errors, "") << name;
  }
}

/// A session keeps the graphs of the last 16 sizes.
TEST(Graphs, ManySizes) {
  expectSuccess([] {
    TestModel model;
    const uint64_t open = INGOT_CUDA_OPEN;
    model.rank = 1;
    model.program.input_bytes = &open;
    model.body = countBody;
    if (model.load())
      return 1;
    std::vector<int32_t> y(numElements);
    int64_t outputDims[1] = {1};
    auto run = [&](int64_t size) {
      ingot_abi_buffer x = bufferOf(), to = bufferOf(y.data());
      x.dims = &size;
      to.dims = outputDims;
      return model.run(int32_t(size), x, to) || y[9] != 2 * (size + 9 + 27);
    };
    for (int round = 0; round < 3; ++round)
      for (int64_t size = 0; size < 16; ++size)
        if (run(size))
          return 2;
    if (bodies != 16)
      return 3;
    // The sizes that were not used for the longest time give way.
    if (run(0) || run(16) || run(0) || bodies != 17 || run(1) || bodies != 18)
      return 4;
    model.unload();
    return 0;
  });
}

/// Host code between kernels ends a graph.
static void computeOnHost(ingot_abi_call *call) {
  ++bodies;
  add(call, call->inputs[0].data, call->weights, call->arena);
  add(call, call->arena, call->weights, call->outputs[0].data);
  auto *shadow = reinterpret_cast<int32_t *>(
      ingot_cuda_shadow(call, uintptr_t(call->arena)));
  ingot_cuda_to_host(call, shadow, call->arena, numBytes);
  ingot_cuda_wait(call);
  for (uint64_t i = 0; i < numElements; ++i)
    shadow[i] *= 10;
  ingot_cuda_to_device(call, call->arena, shadow, numBytes);
  add(call, call->arena, call->outputs[0].data, call->arena);
  add(call, call->arena, call->weights, call->outputs[0].data);
}

TEST(Graphs, HostCodeBetween) {
  auto program = [] {
    TestModel model;
    model.body = computeOnHost;
    if (model.load())
      return 1;
    std::vector<int32_t> y(numElements);
    for (int32_t value = 0; value < 4; ++value) {
      if (model.run(value, bufferOf(), bufferOf(y.data())))
        return 2;
      // 10 (x + w) + (x + 2 w) + w
      for (int32_t i = 0; i < int32_t(numElements); ++i)
        if (y[size_t(i)] != 11 * (value + i) + 13 * 3 * i)
          return 3;
    }
    model.unload();
    return bodies == 4 ? 0 : 4;
  };
  expectSuccess(program);
  const std::vector<std::string> calls = callsOf("cuGraph", program);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuGraphCreate"), 2);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuGraphLaunch"), 8);
}

/// Runs of the same sizes may launch different kernels, if data decide.
TEST(Graphs, StepsThatDiffer) {
  expectSuccess([] {
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      // Host code that waits may depend on data.
      ingot_cuda_wait(call);
      const unsigned count = 2 + ++bodies % 3;
      add(call, call->inputs[0].data, call->weights, call->arena);
      for (unsigned i = 1; i < count; ++i)
        add(call, call->arena, call->weights, call->arena);
      ingot_cuda_copy(call, call->outputs[0].data, call->arena, numBytes);
    };
    if (model.load())
      return 1;
    std::vector<int32_t> y(numElements);
    for (int32_t run = 1; run < 16; ++run)
      if (model.run(run, bufferOf(), bufferOf(y.data())) ||
          y[7] != run + 7 + (2 + run % 3) * 21)
        return 2;
    model.unload();
    return 0;
  });
}

/// A loop of many steps needs no memory for all of them.
TEST(Graphs, MoreStepsThanAGraphHas) {
  auto program = [] {
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      add(call, call->inputs[0].data, call->weights, call->arena);
      for (uint32_t i = 0; i < cuda::mostSteps; ++i)
        ingot_cuda_copy(call, call->outputs[0].data, call->arena, 4);
      ingot_cuda_copy(call, call->outputs[0].data, call->arena, numBytes);
      ++bodies;
    };
    if (model.load())
      return 1;
    std::vector<int32_t> y(numElements);
    for (int32_t run = 1; run < 3; ++run)
      if (model.run(run, bufferOf(), bufferOf(y.data())) ||
          y[7] != run + 7 + 21 || bodies != unsigned(run))
        return 2;
    model.unload();
    return 0;
  };
  expectSuccess(program);
}

/// Different kernels of one number of steps need no new graph.
TEST(Graphs, KernelsThatDiffer) {
  auto program = [] {
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      ingot_cuda_wait(call);
      const void *right = ++bodies % 2 ? call->weights : call->arena;
      add(call, call->inputs[0].data, call->weights, call->arena);
      add(call, call->arena, right, call->outputs[0].data);
    };
    if (model.load())
      return 1;
    std::vector<int32_t> y(numElements);
    for (int32_t run = 1; run < 9; ++run)
      if (model.run(run, bufferOf(), bufferOf(y.data())) ||
          y[7] != (run % 2 ? run + 7 + 42 : 2 * (run + 7 + 21)))
        return 2;
    model.unload();
    return 0;
  };
  expectSuccess(program);
  const std::vector<std::string> calls = callsOf("cuGraph", program);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuGraphCreate"), 1);
}

/// A run with an observer launches each kernel by itself.
TEST(Graphs, NoneWithAnObserver) {
  auto program = [] {
    TestModel model;
    if (model.load())
      return 1;
    ingot_abi_observer observer = {};
    observer.struct_size = sizeof(observer);
    observer.layer_end = [](void *, uint64_t, uint64_t, uint64_t) {
      return int32_t(INGOT_ABI_OK);
    };
    if (model.run(1) || model.run(2, bufferOf(), bufferOf(), &observer) ||
        model.run(3))
      return 2;
    model.unload();
    return 0;
  };
  expectSuccess(program);
  EXPECT_EQ(callsOf("cuLaunchKernel", program).size(), 2u);
  EXPECT_EQ(callsOf("cuGraphLaunch", program).size(), 2u);
}

/// An observer that only may end the run does not change the work. Its runs use
/// the graphs of others.
TEST(Graphs, OfRunsThatMayBeCancelled) {
  struct Limit {
    int ends = 0, most = 99;
    ingot_abi_observer observer() {
      ingot_abi_observer made = {};
      made.struct_size = sizeof(made);
      made.user = this;
      made.layer_end = [](void *user, uint64_t, uint64_t, uint64_t) {
        auto &limit = *static_cast<Limit *>(user);
        return int32_t(++limit.ends > limit.most ? INGOT_ABI_CANCELLED
                                                 : INGOT_ABI_OK);
      };
      made.poll = [](void *) { return int32_t(INGOT_ABI_OK); };
      return made;
    }
  };
  auto program = [] {
    TestModel model;
    if (model.load())
      return 1;
    Limit limit;
    limit.most = 1;
    const ingot_abi_observer observer = limit.observer();
    if (model.run(1, bufferOf(), bufferOf(), &observer) != INGOT_ABI_CANCELLED)
      return 2;
    limit = {};
    if (model.run(2, bufferOf(), bufferOf(), &observer) || limit.ends != 2)
      return 3;
    // The second run needs no host code, which tells of layers.
    if (model.run(3, bufferOf(), bufferOf(), &observer) || limit.ends != 2 ||
        model.run(4))
      return 4;
    model.unload();
    return 0;
  };
  expectSuccess(program);
  EXPECT_EQ(callsOf("cuLaunchKernel", program).size(), 0u);
  EXPECT_EQ(callsOf("cuGraphLaunch", program).size(), 3u);
}

/// Hosts may lack ranks, as an older compiler's artifacts do.
TEST(Graphs, NoneWithoutRanks) {
  auto program = [] {
    TestModel model;
    model.program.input_ranks = model.program.output_ranks = nullptr;
    if (model.load() || model.run(1) || model.run(2))
      return 1;
    model.unload();
    return 0;
  };
  expectSuccess(program);
  EXPECT_EQ(callsOf("cuGraph", program).size(), 0u);
}
