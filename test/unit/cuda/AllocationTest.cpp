//===- AllocationTest.cpp - host memory that is exhausted -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker lets this program's own calls of malloc, calloc and realloc come
// here: those of runtime/cuda. Calls of shared libraries stay as they are.
//
//===----------------------------------------------------------------------===//
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace ingot;
using namespace ingot::test;

/// The number of calls until one fails; negative for never.
static int callsLeft = -1;

static bool mustFail() { return callsLeft >= 0 && callsLeft-- == 0; }

extern "C" {
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes) {
  return mustFail() ? nullptr : __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
  return mustFail() ? nullptr : __real_calloc(count, bytes);
}
void *__wrap_realloc(void *memory, size_t bytes) {
  return mustFail() ? nullptr : __real_realloc(memory, bytes);
}
}

/// Lets the n-th allocation of `program` fail, for each n until none fails.
/// The program returns INGOT_ABI_OUT_OF_MEMORY with a message in one line, or
/// does without the memory. It then runs again without failures.
static void failEach(const std::function<int32_t()> &program) {
  unsigned numFailures = 0;
  for (int n = 0;; ++n) {
    Outcome outcome = inChild("", [&] {
      callsLeft = n;
      const int32_t status = program();
      const bool isReached = callsLeft < 0;
      callsLeft = -1;
      if (status && status != INGOT_ABI_OUT_OF_MEMORY)
        return 101;
      if (program())
        return 102;
      return !isReached ? 103 : status ? 104 : 0;
    });
    if (outcome.code == 103)
      break;
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 104)
        << "allocation " << n << ": " << outcome.code << " " << outcome.errors;
    numFailures += outcome.code == 104;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'),
              outcome.code == 104 ? 1 : 0)
        << "allocation " << n << ": " << outcome.errors;
    ASSERT_LT(n, 1000);
  }
  EXPECT_GT(numFailures, 5u);
}

TEST(Allocations, OfALife) {
  failEach([] {
    TestModel model;
    return lifeOf(model);
  });
}

/// A model stays usable if one of its runs found no memory.
TEST(Allocations, OfRunsInASession) {
  failEach([] {
    static TestModel *model = nullptr;
    const int left = callsLeft;
    if (!model) {
      callsLeft = -1;
      model = new TestModel;
      if (model->load())
        return 1;
      callsLeft = left;
    }
    void *session = nullptr;
    int32_t status = callDevice(*model, ingot_cuda_device.open, &session);
    std::vector<int32_t> y(numElements);
    for (int run = 0; run < 2 && !status; ++run) {
      model->session = session;
      status = model->run(run, bufferOf(), bufferOf(y.data()));
      if (!status)
        status = callDevice(*model, ingot_cuda_device.wait, session);
      if (!status && y[5] != 2 * (run + 5 + 15))
        status = 2;
    }
    model->session = nullptr;
    if (session)
      ingot_cuda_device.close(model->state, session);
    if (status)
      fprintf(stderr, "%s\n", model->message);
    return status;
  });
}

TEST(Allocations, OfAProfile) {
  failEach([] {
    TestModel model;
    ingot_abi_observer observer = {};
    observer.struct_size = sizeof(observer);
    observer.layer_end = [](void *, uint64_t, uint64_t, uint64_t) {
      return int32_t(INGOT_ABI_OK);
    };
    observer.layer_time = [](void *, uint64_t, uint64_t, uint64_t, uint64_t,
                             uint64_t) {};
    int32_t status = model.load();
    if (!status)
      status = model.run(1, bufferOf(), bufferOf(), &observer);
    if (status)
      fprintf(stderr, "%s\n", model.message);
    model.unload();
    return status;
  });
}

/// Results of open size need pieces of the heap, and a recording.
TEST(Allocations, OfOpenSizes) {
  failEach([] {
    static const uint64_t open = INGOT_CUDA_OPEN;
    static const uint32_t rank = 1;
    TestModel model;
    model.program.output_bytes = &open;
    model.program.output_ranks = &rank;
    model.body = [](ingot_abi_call *call) {
      const uintptr_t sum = ingot_cuda_allocate(call, numBytes, "sum");
      const uintptr_t y = ingot_cuda_allocate(call, 3 << 20, "y");
      for (uintptr_t to : {sum, y}) {
        const uint64_t words[] = {
            to == sum ? uint64_t(call->inputs[0].data) : sum,
            to == sum ? uint64_t(call->weights) : sum, to};
        ingot_cuda_launch(call, addKernel, numElements / 64, words);
      }
      ingot_cuda_release(call, sum);
      const int64_t dims[] = {int64_t(numElements)};
      ingot_cuda_store_output(call, 0, 1, reinterpret_cast<uintptr_t>(dims), y,
                              32);
    };
    int32_t status = model.load();
    for (int32_t run = 0; run < 3 && !status; ++run) {
      std::vector<int32_t> y(numElements);
      int64_t dims = 0;
      ingot_abi_buffer output = bufferOf(y.data());
      output.dims = &dims;
      status = model.run(run, bufferOf(), output);
      if (!status &&
          (y[5] != 2 * (run + 5 + 15) || dims != int64_t(numElements)))
        status = 2;
    }
    if (status)
      fprintf(stderr, "%s\n", model.message);
    model.unload();
    return status;
  });
}
