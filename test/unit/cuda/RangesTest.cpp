//===- RangesTest.cpp - ranges in the timelines of profilers --------------===//
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

/// Returns the ranges that a profiler sees in `program`. The program runs in a
/// child process, because a process finds its profiler once.
static std::string rangesIn(const char *profiler,
                            const std::function<int()> &program) {
  Outcome outcome = inChild("", [&] {
    setenv("NVTX_INJECTION64_PATH", profiler, 1);
    if (int status = program())
      return status;
    if (void *library = dlopen(INGOT_TEST_PROFILER, RTLD_NOW | RTLD_NOLOAD))
      fputs(static_cast<const char *>(dlsym(library, "ranges")), stderr);
    return 0;
  });
  EXPECT_EQ(outcome.code, 0);
  return outcome.errors;
}

static ingot_abi_observer watcher() {
  ingot_abi_observer observer = {};
  observer.struct_size = sizeof(observer);
  observer.layer_end = [](void *, uint64_t, uint64_t, uint64_t) {
    return int32_t(INGOT_ABI_OK);
  };
  return observer;
}

/// A run is a range. An observer tells layers apart, which then are ranges,
/// too, with the name of the node. This model has no library to be named after.
TEST(Ranges, OfRunsAndLayers) {
  const std::string found = rangesIn(INGOT_TEST_PROFILER, [] {
    TestModel model;
    const ingot_abi_observer observer = watcher();
    if (model.load() || model.run(1) || model.run(2) ||
        model.run(3, bufferOf(), bufferOf(), &observer))
      return 1;
    model.unload();
    return 0;
  });
  EXPECT_EQ(found, "(ingot model)(ingot model)"
                   "(ingot model(node of add)(node of add))");
}

/// Ranges end also if the run fails.
TEST(Ranges, OfRunsThatFail) {
  const std::string found = rangesIn(INGOT_TEST_PROFILER, [] {
    TestModel model;
    model.body = [](ingot_abi_call *call) {
      const uint64_t words[3] = {};
      ingot_cuda_launch(call, addKernel, uint64_t(1) << 31, words);
      ingot_cuda_launch(call, addKernel, 1, words);
    };
    const ingot_abi_observer observer = watcher();
    if (model.load() || !model.run(1, bufferOf(), bufferOf(), &observer))
      return 1;
    model.body = [](ingot_abi_call *call) {
      const uint64_t words[] = {uint64_t(call->inputs[0].data),
                                uint64_t(call->weights),
                                uint64_t(call->outputs[0].data)};
      ingot_cuda_launch(call, faultKernel, 1, words);
    };
    if (!model.run(1, bufferOf(), bufferOf(), &observer))
      return 2;
    model.unload();
    return 0;
  });
  // The emulator prints its report between them.
  EXPECT_NE(found.find("(ingot model)(ingot model(node of fault))"),
            std::string::npos)
      << found;
}

/// Without a profiler, and with a library that is none, there are no ranges.
TEST(Ranges, NoProfiler) {
  for (const char *path : {"", "/nowhere/profiler.so", "libm.so.6"})
    EXPECT_EQ(rangesIn(path,
                       [] {
                         TestModel model;
                         return lifeOf(model);
                       }),
              "")
        << path;
}
