//===- OpenGraphsTest.cpp - runs of open sizes that are repeated ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Heap.h"
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string.h>

using namespace ingot;
using namespace ingot::test;

static constexpr uint64_t openBytes = INGOT_CUDA_OPEN;

/// The number of calls of the body.
static unsigned bodies = 0;

/// Launches the kernel that adds on `n` elements.
static void add(ingot_abi_call *call, int64_t n, uintptr_t x, uintptr_t y,
                uintptr_t sum) {
  const uint64_t words[] = {x, y, sum};
  ingot_cuda_launch(call, addKernel, uint64_t(n) / 64, words);
}

/// Bytes of a piece that a run of 256 elements needs.
static constexpr uint64_t largeBytes = 8 << 20;

/// Computes y = 2 (x + w) for as many elements as x has, with all results in
/// the heap.
static void computeOpen(ingot_abi_call *call) {
  ++bodies;
  const int64_t n = call->inputs[0].dims[0];
  const auto bytes = uint64_t(4 * n);
  const auto x = reinterpret_cast<uintptr_t>(call->inputs[0].data),
             w = reinterpret_cast<uintptr_t>(call->weights);
  const uintptr_t large =
      ingot_cuda_allocate(call, n == 256 ? largeBytes : 1000, "large");
  const uintptr_t sum = ingot_cuda_allocate(call, bytes, "sum");
  const uintptr_t y = ingot_cuda_room(call, 0, bytes, "y");
  // The large piece is used at its end, which is in another region.
  add(call, n, x, w, large + (n == 256 ? largeBytes - 1024 : 0));
  add(call, n, large + (n == 256 ? largeBytes - 1024 : 0), w, sum);
  add(call, n, x, sum, y);
  ingot_cuda_release(call, large);
  ingot_cuda_release(call, sum);
  const int64_t dims[] = {n};
  ingot_cuda_store_output(call, 0, 1, reinterpret_cast<uintptr_t>(dims), y, 32);
  ingot_cuda_release(call, y);
}

namespace {

/// A model whose input and output have open sizes.
struct OpenModel : TestModel {
  OpenModel() {
    rank = 1;
    program.input_bytes = program.output_bytes = &openBytes;
    body = computeOpen;
    bodies = 0;
  }
  /// Runs on `n` elements, from `value` on. Checks an output in host memory.
  int32_t runOn(int64_t n, int32_t value, ingot_abi_buffer output) {
    ingot_abi_buffer input = bufferOf();
    input.bytes = uint64_t(4 * n);
    input.dims = &n;
    dims = 0;
    output.dims = &dims;
    const int32_t status = run(value, input, output);
    if (status)
      return status;
    if (dims != n)
      return -1;
    if (output.memory == INGOT_ABI_MEMORY_HOST)
      return check(static_cast<const int32_t *>(output.data), n, value);
    return 0;
  }
  int32_t runOn(int64_t n, int32_t value) {
    std::vector<int32_t> y(numElements, 77);
    return runOn(n, value, bufferOf(y.data()));
  }
  static int32_t check(const int32_t *y, int64_t n, int32_t value) {
    for (int32_t i = 0; i < int32_t(n); ++i)
      if (y[i] != 2 * (value + i) + 2 * 3 * i)
        return -2;
    return 0;
  }
  int64_t dims = 0;
};

/// Memory of the GPU for an output.
struct Output {
  Output(Caller &caller) : caller(caller) {
    if (caller.cuMemAlloc_v2(&address, numBytes))
      exit(104);
  }
  ~Output() { caller.cuMemFree_v2(address); }
  ingot_abi_buffer buffer() const {
    return bufferOf(reinterpret_cast<void *>(uintptr_t(address)),
                    INGOT_ABI_MEMORY_CUDA);
  }
  int32_t check(int64_t n, int32_t value) const {
    std::vector<int32_t> y(numElements);
    if (caller.cuMemcpyDtoHAsync_v2(y.data(), address, size_t(4 * n),
                                    nullptr) ||
        caller.cuStreamSynchronize(nullptr))
      return 105;
    return OpenModel::check(y.data(), n, value);
  }
  Caller &caller;
  cuda::DevicePointer address = 0;
};

} // namespace

/// Sizes alternate, and each run has another output in host memory.
TEST(OpenGraphs, HostCodeRunsOnceForEachSize) {
  expectSuccess([] {
    OpenModel model;
    if (model.load())
      return 1;
    for (int32_t round = 0; round < 4; ++round)
      for (int64_t n : {64, 256, 128, 192})
        if (model.runOn(n, round + int32_t(n)))
          return 2;
    model.unload();
    return bodies == 4 ? 0 : 3;
  });
}

/// After the second run, in which the regions of the heap have been joined,
/// runs only copy and launch the graph.
TEST(OpenGraphs, CallsOfTheDriver) {
  auto runs = [](int count) {
    return [=] {
      OpenModel model;
      if (model.load())
        return 1;
      for (int32_t run = 0; run < count; ++run)
        if (model.runOn(256, run))
          return 2;
      model.unload();
      return bodies == 1 ? 0 : 3;
    };
  };
  auto count = [&](const std::string &name, int count) {
    return callsOf(name, runs(count)).size();
  };
  EXPECT_EQ(count("cuGraphCreate", 5), 1u);
  EXPECT_EQ(count("cuGraphLaunch", 5), 5u);
  EXPECT_EQ(count("cuLaunchKernel", 5), 0u);
  EXPECT_EQ(count("cuMemcpyDtoHAsync_v2", 5), 5u);
  EXPECT_EQ(count("cuGraphExecKernelNodeSetParams_v2", 5),
            count("cuGraphExecKernelNodeSetParams_v2", 2));
  EXPECT_EQ(count("cuMemAlloc_v2", 5), count("cuMemAlloc_v2", 2));
}

/// Outputs are in turn in host memory, and in two places of the GPU.
TEST(OpenGraphs, OutputsThatMove) {
  expectSuccess([] {
    OpenModel model;
    if (model.load())
      return 1;
    {
      Caller caller;
      Output outputs[] = {caller, caller};
      for (int32_t run = 0; run < 9; ++run) {
        if (run % 3 == 2) {
          if (model.runOn(128, run))
            return 2;
          continue;
        }
        const Output &output = outputs[run % 3];
        if (model.runOn(128, run, output.buffer()) || output.check(128, run))
          return 3;
      }
    }
    model.unload();
    // Both kinds of memory have a recording.
    return bodies == 2 ? 0 : 4;
  });
}

/// An output without room fails as in a run with host code, and leaves nothing
/// wrong behind.
TEST(OpenGraphs, OutputsWithoutRoom) {
  expectSuccess([] {
    OpenModel model;
    if (model.load() || model.runOn(128, 1) || model.runOn(128, 2))
      return 1;
    {
      Caller caller;
      Output output(caller);
      std::vector<int32_t> y(numElements, 9);
      for (ingot_abi_buffer buffer : {bufferOf(y.data()), output.buffer()}) {
        for (int32_t run = 0; run < 2; ++run)
          if (model.runOn(128, run, buffer))
            return 2;
        buffer.bytes = 4 * 128 - 1;
        if (model.runOn(128, 3, buffer) != INGOT_ABI_BUFFER_TOO_SMALL ||
            model.dims != 128)
          return 3;
        buffer.bytes = 4 * 128;
        for (int32_t run = 0; run < 2; ++run)
          if (model.runOn(128, run, buffer) ||
              (buffer.memory == INGOT_ABI_MEMORY_CUDA &&
               output.check(128, run)))
            return 4;
      }
    }
    model.unload();
    // A failure needs the host code, and the run behind it, too.
    return bodies == 2 + 2 * 2 ? 0 : 5;
  });
}

/// Runs of few elements return the memory of a large one, which later takes it
/// again, without host code.
TEST(OpenGraphs, HeapThatIsTrimmed) {
  expectSuccess([] {
    OpenModel model;
    if (model.load())
      return 1;
    for (int32_t round = 0; round < 3; ++round) {
      if (model.runOn(256, round))
        return 2;
      Caller caller;
      size_t before = 0, after = 0, total = 0;
      caller.cuMemGetInfo_v2(&before, &total);
      for (uint32_t run = 0; run < cuda::Heap::kRuns + 2; ++run)
        if (model.runOn(64, int32_t(run)))
          return 3;
      caller.cuMemGetInfo_v2(&after, &total);
      if (after < before + largeBytes / 2)
        return 4;
    }
    model.unload();
    return bodies == 2 ? 0 : 5;
  });
}

/// A run whose heap finds no memory fails. The next one works.
TEST(OpenGraphs, OutOfMemory) {
  Outcome outcome = inChild("memory=33554432", [] {
    OpenModel model;
    if (model.load() || model.runOn(256, 1))
      return 1;
    for (uint32_t run = 0; run < cuda::Heap::kRuns + 2; ++run)
      if (model.runOn(64, int32_t(run)))
        return 2;
    {
      Caller caller;
      cuda::DevicePointer other = 0;
      if (caller.cuMemAlloc_v2(&other, 26 << 20))
        return 3;
      if (model.runOn(256, 2) != INGOT_ABI_OUT_OF_MEMORY)
        return 4;
      fprintf(stderr, "%s\n", model.message);
      if (model.runOn(64, 3))
        return 5;
      caller.cuMemFree_v2(other);
    }
    if (model.runOn(256, 4) || model.runOn(256, 5) || model.runOn(64, 6))
      return 6;
    model.unload();
    return bodies == 3 ? 0 : 7;
  });
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors,
            "cuMemAlloc_v2 failed for tensors of dynamic shape: "
            "CUDA_ERROR_OUT_OF_MEMORY\n");
}

/// If a call of the driver fails in a run without host code, the next run makes
/// the graph again.
TEST(OpenGraphs, CallsThatFail) {
  for (const char *name : {"cuGraphExecKernelNodeSetParams_v2:2",
                           "cuGraphLaunch:2", "cuMemcpyDtoHAsync_v2:2"}) {
    Outcome outcome = inChild("fail=" + std::string(name), [] {
      OpenModel model;
      if (model.load())
        return 1;
      int failures = 0;
      for (int32_t run = 0; run < 6; ++run)
        failures += model.runOn(256, run) ? 1 : 0;
      model.unload();
      return failures == 1 && bodies == 2 ? 0 : 2;
    });
    EXPECT_EQ(outcome.code, 0) << name;
    EXPECT_EQ(outcome.errors, "") << name;
  }
}

/// A single launch needs no graph, and no host code either.
TEST(OpenGraphs, SingleLaunches) {
  auto program = [] {
    OpenModel model;
    model.body = [](ingot_abi_call *call) {
      ++bodies;
      const int64_t n = call->inputs[0].dims[0];
      const auto x = reinterpret_cast<uintptr_t>(call->inputs[0].data);
      const uintptr_t y = ingot_cuda_allocate(call, uint64_t(4 * n), "y");
      add(call, n, x, reinterpret_cast<uintptr_t>(call->weights), y);
      const int64_t dims[] = {n};
      ingot_cuda_store_output(call, 0, 1, reinterpret_cast<uintptr_t>(dims), y,
                              32);
    };
    if (model.load())
      return 1;
    for (int32_t run = 0; run < 4; ++run) {
      std::vector<int32_t> y(numElements);
      // The check of runOn expects another result.
      if (model.runOn(128, run, bufferOf(y.data())) != -2 ||
          y[20] != run + 20 + 60)
        return 2;
    }
    model.unload();
    return bodies == 1 ? 0 : 3;
  };
  expectSuccess(program);
  EXPECT_EQ(callsOf("cuGraph", program).size(), 0u);
  EXPECT_EQ(callsOf("cuLaunchKernel", program).size(), 4u);
}

/// Host code that reads memory of the GPU runs each time.
TEST(OpenGraphs, HostCodeThatReads) {
  expectSuccess([] {
    OpenModel model;
    model.body = [](ingot_abi_call *call) {
      const uintptr_t piece = ingot_cuda_allocate(call, 1024, "piece");
      auto *shadow =
          reinterpret_cast<int32_t *>(ingot_cuda_shadow(call, piece));
      add(call, 64, reinterpret_cast<uintptr_t>(call->inputs[0].data),
          reinterpret_cast<uintptr_t>(call->weights), piece);
      ingot_cuda_to_host(call, shadow, reinterpret_cast<void *>(piece), 256);
      ingot_cuda_wait(call);
      const bool isRight = shadow[1] == shadow[0] + 4;
      ingot_cuda_release(call, piece);
      if (isRight)
        computeOpen(call);
    };
    if (model.load())
      return 1;
    for (int32_t run = 0; run < 4; ++run)
      if (model.runOn(run % 2 ? 64 : 256, run))
        return 2;
    model.unload();
    return bodies == 4 ? 0 : 3;
  });
}
