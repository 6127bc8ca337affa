//===- RunTest.cpp - runs of a model on the emulated GPU ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <thread>

using namespace ingot;
using namespace ingot::test;

TEST(Run, ManyTimes) {
  expectSuccess([] {
    TestModel model;
    if (int status = lifeOf(model))
      return status;
    if (model.load())
      return 1;
    for (int32_t value : {1, -5, 1 << 20})
      if (model.run(value))
        return 2;
    model.unload();
    return 0;
  });
}

TEST(Run, ThreadsAtOnce) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    int32_t statuses[4] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        for (int32_t value = 0; value < 8 && !statuses[i]; ++value)
          statuses[i] = model.run(100 * i + value);
      });
    for (std::thread &thread : threads)
      thread.join();
    model.unload();
    for (int32_t status : statuses)
      if (status)
        return 2;
    return 0;
  });
}

/// A check that fails in a kernel ends the run behind all work. The next run
/// starts without a failure.
TEST(Run, ChecksOfKernels) {
  expectSuccess([] {
    static const char *const checks[] = {"node 'x': {0} is not {1}"};
    static bool fails;
    TestModel model;
    model.program.checks = checks;
    model.program.num_checks = 1;
    // The host code decides what fails, so graphs must not take its place.
    model.program.input_ranks = nullptr;
    model.body = [](ingot_abi_call *call) {
      for (const void *x : {call->inputs[0].data, call->arena}) {
        const bool isFirst = x != call->arena;
        const uint64_t words[] = {
            uint64_t(x), uint64_t(isFirst ? call->weights : x),
            uint64_t(isFirst ? call->arena : call->outputs[0].data)};
        ingot_cuda_launch(call, addKernel, numElements / 64, words);
        const uint64_t status[] = {uint64_t(ingot_cuda_status(call))};
        ingot_cuda_launch(call, checkKernel, fails && isFirst, status);
      }
    };
    if (model.load())
      return 1;
    for (bool now : {false, true, false, true, true}) {
      fails = now;
      const int32_t status = model.run();
      if (status != (now ? INGOT_ABI_RUNTIME_CHECK : INGOT_ABI_OK))
        return 2;
      if (now && std::string(model.message) != "node 'x': 41 is not 42")
        return 3;
    }
    model.unload();
    return 0;
  });
}

TEST(Run, SeveralModels) {
  expectSuccess([] {
    TestModel a, b;
    if (a.load() || b.load())
      return 1;
    if (a.run(1) || b.run(2) || a.run(3))
      return 2;
    a.unload();
    if (b.run(4))
      return 3;
    b.unload();
    return 0;
  });
}

/// A model may have no weights, no arena and no elements.
TEST(Run, NothingToCompute) {
  expectSuccess([] {
    TestModel model;
    model.program.weights_bytes = model.program.arena_bytes = 0;
    model.tensorBytes = 0;
    model.body = [](ingot_abi_call *call) {
      ingot_cuda_launch(call, addKernel, 0, nullptr);
      ingot_cuda_copy(call, nullptr, nullptr, 0);
    };
    int32_t element = 0;
    if (model.load() || model.run(1, bufferOf(&element), bufferOf(&element)))
      return 1;
    model.unload();
    return 0;
  });
}

TEST(Run, CopiesWithinTheGpu) {
  expectSuccess([] {
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      ingot_cuda_copy(call, call->outputs[0].data, call->inputs[0].data,
                      numBytes);
    };
    std::vector<int32_t> y(numElements);
    if (model.load() || model.run(4, bufferOf(), bufferOf(y.data())))
      return 1;
    model.unload();
    return y[0] == 4 && y[255] == 259 ? 0 : 2;
  });
}

/// Buffers of the caller in memory of the GPU are used where they are.
TEST(Run, BuffersOnTheGpu) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    DriverFunctions driver;
    cuda::Context context;
    cuda::DevicePointer y;
    driver.cuDevicePrimaryCtxRetain(&context, 0);
    driver.cuCtxPushCurrent_v2(context);
    if (driver.cuMemAlloc_v2(&y, numBytes))
      return 2;
    auto *address = reinterpret_cast<void *>(uintptr_t(y));
    const ingot_abi_buffer onGpu = bufferOf(address, INGOT_ABI_MEMORY_CUDA);
    if (model.run(1, bufferOf(), onGpu))
      return 3;
    // The caller's context is as it was.
    cuda::Context current;
    driver.cuCtxGetCurrent(&current);
    if (current != context)
      return 4;
    // The next run reads what the first has written.
    std::vector<int32_t> z(numElements);
    if (model.run(1, onGpu, bufferOf(z.data())) ||
        z[10] != 2 * (2 * (1 + 10 + 30) + 30))
      return 5;
    driver.cuMemFree_v2(y);
    driver.cuCtxPopCurrent_v2(&context);
    driver.cuDevicePrimaryCtxRelease_v2(0);
    model.unload();
    return 0;
  });
}

TEST(Run, RefusesForeignPointers) {
  Outcome outcome = inChild("", [] {
    TestModel model;
    if (model.load())
      return 1;
    alignas(64) static int32_t onHost[numElements];
    if (model.run(1, bufferOf(onHost, INGOT_ABI_MEMORY_CUDA), bufferOf()) !=
        INGOT_ABI_INVALID_ARGUMENT)
      return 2;
    fprintf(stderr, "%s\n", model.message);
    DriverFunctions driver;
    cuda::Context context;
    cuda::DevicePointer y;
    driver.cuDevicePrimaryCtxRetain(&context, 0);
    driver.cuCtxPushCurrent_v2(context);
    driver.cuMemAlloc_v2(&y, 2 * numBytes);
    auto *address = reinterpret_cast<void *>(uintptr_t(y + 4));
    if (model.run(1, bufferOf(), bufferOf(address, INGOT_ABI_MEMORY_CUDA)) !=
        INGOT_ABI_INVALID_ARGUMENT)
      return 3;
    fprintf(stderr, "%s\n", model.message);
    // The model still runs.
    if (model.run())
      return 4;
    driver.cuMemFree_v2(y);
    driver.cuDevicePrimaryCtxRelease_v2(0);
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors,
            "the address for input 0 is not in memory of CUDA device 0\n"
            "the address for output 0 is not a multiple of 16\n");
}

namespace {
/// An observer that counts layers.
struct Watch {
  uint64_t last = 0;
  uint64_t count = 0;
  uint64_t stopAt = 99;

  ingot_abi_observer observer() {
    ingot_abi_observer made = {};
    made.struct_size = sizeof(made);
    made.user = this;
    made.layer_end = [](void *user, uint64_t layer, uint64_t, uint64_t) {
      auto *watch = static_cast<Watch *>(user);
      watch->last = layer;
      return int32_t(++watch->count == watch->stopAt ? INGOT_ABI_CANCELLED
                                                     : INGOT_ABI_OK);
    };
    return made;
  }
};
} // namespace

TEST(Run, Observer) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    Watch watch;
    const ingot_abi_observer observer = watch.observer();
    if (model.run(2, bufferOf(), bufferOf(), &observer) || watch.count != 2 ||
        watch.last != 6)
      return 2;
    watch.count = 0;
    watch.stopAt = 1;
    if (model.run(2, bufferOf(), bufferOf(), &observer) !=
            INGOT_ABI_CANCELLED ||
        watch.count != 1)
      return 3;
    if (model.run(3))
      return 4;
    model.unload();
    return 0;
  });
}
