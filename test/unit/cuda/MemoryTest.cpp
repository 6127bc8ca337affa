//===- MemoryTest.cpp - memory of the caller ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <string.h>

using namespace ingot;
using namespace ingot::test;

TEST(Memory, Copies) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    const ingot_abi_device &device = ingot_cuda_device;
    void *onGpu[2], *pinned;
    for (void *&pointer : onGpu)
      if (callDevice(model, device.allocate, INGOT_ABI_MEMORY_CUDA, 64,
                     &pointer))
        return 2;
    if (callDevice(model, device.allocate, INGOT_ABI_MEMORY_HOST, 64, &pinned))
      return 3;
    auto copy = [&](void *to, const void *from) {
      auto memoryOf = [&](const void *pointer) {
        return pointer == onGpu[0] || pointer == onGpu[1]
                   ? INGOT_ABI_MEMORY_CUDA
                   : INGOT_ABI_MEMORY_HOST;
      };
      ingot_abi_copy made = {};
      made.struct_size = sizeof(made);
      made.to_memory = uint32_t(memoryOf(to));
      made.from_memory = uint32_t(memoryOf(from));
      made.to = to;
      made.from = from;
      made.bytes = 64;
      return callDevice(model, device.copy, &made);
    };
    int32_t x[16], y[16];
    for (int32_t i = 0; i < 16; ++i)
      x[i] = i;
    if (copy(onGpu[0], x) || copy(onGpu[1], onGpu[0]) ||
        copy(pinned, onGpu[1]) || copy(y, pinned) || memcmp(x, y, 64))
      return 4;
    for (void *pointer : onGpu)
      device.release(model.state, INGOT_ABI_MEMORY_CUDA, pointer);
    device.release(model.state, INGOT_ABI_MEMORY_HOST, pinned);
    // No bytes need no memory.
    void *none = x;
    if (callDevice(model, device.allocate, INGOT_ABI_MEMORY_CUDA, 0, &none) ||
        none)
      return 5;
    model.unload();
    return 0;
  });
}

TEST(Memory, Refusals) {
  const std::string overlap =
      "the memory that is copied to overlaps the memory that is copied from; "
      "copy to other memory first\n";
  Outcome outcome = inChild("memory=1M", [] {
    TestModel model;
    if (model.load())
      return 1;
    const ingot_abi_device &device = ingot_cuda_device;
    auto says = [&](int32_t status, int32_t expected) {
      fprintf(stderr, "%s\n", model.message);
      model.message[0] = 0;
      return status == expected;
    };
    void *pointer = nullptr;
    if (!says(callDevice(model, device.allocate, INGOT_ABI_MEMORY_CUDA,
                         uint64_t(1) << 30, &pointer),
              INGOT_ABI_OUT_OF_MEMORY) ||
        pointer)
      return 2;
    int32_t onHost[16] = {};
    ingot_abi_copy copy = {};
    copy.struct_size = sizeof(copy);
    copy.to_memory = INGOT_ABI_MEMORY_CUDA;
    copy.to = onHost;
    copy.from = onHost;
    copy.bytes = 64;
    if (!says(callDevice(model, device.copy, &copy),
              INGOT_ABI_INVALID_ARGUMENT))
      return 3;
    ingot_abi_buffer buffer = bufferOf(onHost, INGOT_ABI_MEMORY_CUDA);
    buffer.device = 3;
    if (!says(model.run(1, buffer, bufferOf()), INGOT_ABI_INVALID_ARGUMENT))
      return 4;
    // A copy within GPU memory, forward, backward and onto itself.
    if (callDevice(model, device.allocate, INGOT_ABI_MEMORY_CUDA, 128,
                   &pointer))
      return 5;
    copy.from_memory = INGOT_ABI_MEMORY_CUDA;
    auto *start = static_cast<char *>(pointer);
    for (char *from : {start, start + 32, start + 64}) {
      copy.to = start + 32;
      copy.from = from;
      if (!says(callDevice(model, device.copy, &copy),
                INGOT_ABI_INVALID_ARGUMENT))
        return 6;
    }
    ingot_abi_copy fill = copy;
    fill.from_memory = INGOT_ABI_MEMORY_HOST;
    fill.to = start + 64;
    copy.from = start + 64;
    fill.from = onHost;
    copy.to = start;
    if (callDevice(model, device.copy, &fill) ||
        callDevice(model, device.copy, &copy))
      return 7;
    device.release(model.state, INGOT_ABI_MEMORY_CUDA, pointer);
    if (model.run())
      return 8;
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors,
            "cuMemAlloc_v2 failed for memory of 1073741824 bytes: "
            "CUDA_ERROR_OUT_OF_MEMORY\n"
            "the address that is copied to is not in memory of CUDA device 0\n"
            "the memory for input 0 is said to be of CUDA device 3, but the "
            "model runs on CUDA device 0\n" +
                overlap + overlap + overlap);
}

/// Memory of the GPU that is declared as that of the host.
TEST(Memory, SaidToBeOnHost) {
  Outcome outcome = inChild("", [] {
    TestModel model;
    if (model.load())
      return 1;
    void *onGpu = nullptr;
    if (callDevice(model, ingot_cuda_device.allocate, INGOT_ABI_MEMORY_CUDA,
                   numBytes, &onGpu))
      return 2;
    auto isRefused = [&](int32_t status) {
      fprintf(stderr, "%s\n", model.message);
      model.message[0] = 0;
      return status == INGOT_ABI_INVALID_ARGUMENT;
    };
    if (!isRefused(model.run(1, bufferOf(onGpu), bufferOf())) ||
        !isRefused(model.run(1, bufferOf(), bufferOf(onGpu))))
      return 3;
    int32_t onHost[16] = {};
    ingot_abi_copy copy = {};
    copy.struct_size = sizeof(copy);
    copy.bytes = 64;
    copy.to = onHost;
    copy.from = onGpu;
    if (!isRefused(callDevice(model, ingot_cuda_device.copy, &copy)))
      return 4;
    copy.to = onGpu;
    copy.from = onHost;
    if (!isRefused(callDevice(model, ingot_cuda_device.copy, &copy)))
      return 5;
    ingot_cuda_device.release(model.state, INGOT_ABI_MEMORY_CUDA, onGpu);
    if (model.run())
      return 6;
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0);
  const std::string rest =
      " is said to be in host memory, but it is in memory of a GPU\n";
  EXPECT_EQ(outcome.errors, "the address for input 0" + rest +
                                "the address for output 0" + rest +
                                "the address that is copied from" + rest +
                                "the address that is copied to" + rest);
}

TEST(Memory, OfAnotherDevice) {
  Outcome outcome = inChild("devices=2", [] {
    TestModel model;
    if (model.load())
      return 1;
    Caller caller;
    auto *create = caller.find<cuda::Result(cuda::Context *, unsigned, int)>(
        "cuCtxCreate_v2");
    auto *destroy = caller.find<cuda::Result(cuda::Context)>("cuCtxDestroy_v2");
    cuda::Context other;
    cuda::DevicePointer pointer;
    if (create(&other, 0, 1) || caller.cuMemAlloc_v2(&pointer, numBytes))
      return 2;
    auto *address = reinterpret_cast<void *>(uintptr_t(pointer));
    if (model.run(1, bufferOf(address, INGOT_ABI_MEMORY_CUDA), bufferOf()) !=
        INGOT_ABI_INVALID_ARGUMENT)
      return 3;
    fprintf(stderr, "%s\n", model.message);
    caller.cuMemFree_v2(pointer);
    destroy(other);
    if (model.run())
      return 4;
    model.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors,
            "the address for input 0 is in memory of CUDA device 1, but the "
            "model runs on CUDA device 0\n");
}

/// After a fault of other work, the driver refuses right addresses and streams,
/// too. The messages name the fault.
TEST(Memory, AfterAFault) {
  Outcome outcome = inChild("", [] {
    TestModel broken, models[3];
    broken.body = [](ingot_abi_call *call) {
      const uint64_t words[] = {uint64_t(call->inputs[0].data),
                                uint64_t(call->weights), 0};
      ingot_cuda_launch(call, faultKernel, 1, words);
    };
    if (broken.load())
      return 1;
    // Each model has a session already.
    for (TestModel &model : models)
      if (model.load() || model.run())
        return 2;
    Caller caller;
    cuda::DevicePointer pointer;
    cuda::Stream stream;
    if (caller.cuMemAlloc_v2(&pointer, numBytes) ||
        caller.cuStreamCreate(&stream, cuda::streamNonBlocking))
      return 3;
    if (broken.run() != INGOT_ABI_BACKEND_ERROR)
      return 4;
    auto *address = reinterpret_cast<void *>(uintptr_t(pointer));
    int32_t onHost[16] = {};
    ingot_abi_copy copy = {};
    copy.struct_size = sizeof(copy);
    copy.to_memory = INGOT_ABI_MEMORY_CUDA;
    copy.to = address;
    copy.from = onHost;
    copy.bytes = 64;
    models[2].stream = stream;
    const int32_t statuses[] = {
        models[0].run(1, bufferOf(address, INGOT_ABI_MEMORY_CUDA), bufferOf()),
        callDevice(models[1], ingot_cuda_device.copy, &copy), models[2].run()};
    for (int i = 0; i < 3; ++i) {
      fprintf(stderr, "%s\n", models[i].message);
      if (statuses[i] != INGOT_ABI_BACKEND_ERROR)
        return 5 + i;
      models[i].unload();
    }
    broken.unload();
    return 0;
  });
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  for (const char *call : {"cuPointerGetAttribute", "cuStreamGetCtx"})
    EXPECT_NE(outcome.errors.find(std::string(call) +
                                  " failed: CUDA_ERROR_LAUNCH_FAILED\n"),
              std::string::npos)
        << outcome.errors;
}
