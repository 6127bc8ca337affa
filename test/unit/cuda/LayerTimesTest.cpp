//===- LayerTimesTest.cpp - times of layers on the emulated GPU -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An event of the emulated GPU is a millisecond later for each piece of work
// before it, so the times are exact.
//
//===----------------------------------------------------------------------===//
#include "test/unit/cuda/Harness.h"

#include <gtest/gtest.h>

#include <string.h>

using namespace ingot;
using namespace ingot::test;

namespace {

/// An observer that keeps the times of layers.
struct Clock {
  struct Layer {
    uint64_t number, start, end;
  };
  std::vector<Layer> layers;
  uint32_t numEnds = 0, numPolls = 0, stopAt = 99;

  ingot_abi_observer observer() {
    ingot_abi_observer made = {};
    made.struct_size = sizeof(made);
    made.user = this;
    made.layer_end = [](void *user, uint64_t, uint64_t, uint64_t) {
      ++static_cast<Clock *>(user)->numEnds;
      return int32_t(INGOT_ABI_OK);
    };
    made.poll = [](void *user) {
      auto *clock = static_cast<Clock *>(user);
      return int32_t(++clock->numPolls == clock->stopAt ? INGOT_ABI_CANCELLED
                                                        : INGOT_ABI_OK);
    };
    made.layer_time = [](void *user, uint64_t layer, uint64_t, uint64_t,
                         uint64_t start, uint64_t end) {
      static_cast<Clock *>(user)->layers.push_back({layer, start, end});
    };
    return made;
  }
};

constexpr uint64_t kWork = 1000000;

} // namespace

/// Returns 0 if the clock has the times of one run of the model: a copy of the
/// input, and a launch in each layer.
static int check(const Clock &clock) {
  if (clock.numEnds || clock.numPolls != 2 || clock.layers.size() != 2)
    return 10;
  for (uint64_t i = 0; i < 2; ++i) {
    const Clock::Layer &layer = clock.layers[i];
    if (layer.number != 5 + i || layer.start != (1 + i) * kWork ||
        layer.end != (2 + i) * kWork)
      return 11;
  }
  return 0;
}

TEST(LayerTimes, OfARun) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    // The runs in between have graphs.
    for (int32_t value = 0; value < 3; ++value) {
      Clock clock;
      const ingot_abi_observer observer = clock.observer();
      if (model.run(value, bufferOf(), bufferOf(), &observer))
        return 2;
      if (int wrong = check(clock))
        return wrong;
      if (model.run(value))
        return 3;
    }
    model.unload();
    return 0;
  });
}

/// A run of a session, on a stream of the caller, has ended when it returns.
TEST(LayerTimes, OfASession) {
  expectSuccess([] {
    TestModel model;
    if (model.load() ||
        callDevice(model, ingot_cuda_device.open, &model.session))
      return 1;
    Caller caller;
    cuda::Stream stream;
    if (caller.cuStreamCreate(&stream, cuda::streamNonBlocking))
      return 2;
    for (void *queue :
         {static_cast<void *>(nullptr), static_cast<void *>(stream)}) {
      model.stream = queue;
      Clock clock;
      const ingot_abi_observer observer = clock.observer();
      if (model.run(1, bufferOf(), bufferOf(), &observer))
        return 3;
      if (int wrong = check(clock))
        return wrong;
      if (callDevice(model, ingot_cuda_device.wait, model.session))
        return 4;
    }
    ingot_cuda_device.close(model.state, model.session);
    caller.cuStreamDestroy_v2(stream);
    model.unload();
    return 0;
  });
}

/// The host waits only at the end of a run, and makes events once.
TEST(LayerTimes, NoWaitsBetweenLayers) {
  static bool isTimed;
  auto program = [] {
    TestModel model;
    if (model.load())
      return 1;
    for (int32_t value = 0; value < 3; ++value) {
      Clock clock;
      const ingot_abi_observer observer = clock.observer();
      if (model.run(value, bufferOf(), bufferOf(),
                    isTimed ? &observer : nullptr))
        return 2;
    }
    model.unload();
    return 0;
  };
  auto count = [&](const char *prefix, bool withTimes) {
    isTimed = withTimes;
    return callsOf(prefix, program).size();
  };
  EXPECT_EQ(count("cuStreamSynchronize", true),
            count("cuStreamSynchronize", false));
  EXPECT_EQ(count("cuEventCreate", true), 4u);
  EXPECT_EQ(count("cuEventDestroy", true), 4u);
  EXPECT_EQ(count("cuEventRecord", true), 12u);
  EXPECT_EQ(count("cuEvent", false), 0u);
}

/// A run ends at the end of a layer if the observer wants that. There are no
/// times then.
TEST(LayerTimes, Cancelled) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    Clock clock;
    clock.stopAt = 1;
    const ingot_abi_observer observer = clock.observer();
    if (model.run(2, bufferOf(), bufferOf(), &observer) !=
            INGOT_ABI_CANCELLED ||
        clock.numPolls != 1 || !clock.layers.empty())
      return 2;
    if (model.run(3))
      return 3;
    model.unload();
    return 0;
  });
}

/// An older observer has no `layer_time`, even if something lies behind it.
TEST(LayerTimes, OlderObserver) {
  expectSuccess([] {
    TestModel model;
    if (model.load())
      return 1;
    Clock clock;
    ingot_abi_observer observer = clock.observer();
    observer.struct_size = INGOT_ABI_OBSERVER_BYTES_V2;
    if (model.run(2, bufferOf(), bufferOf(), &observer) || clock.numEnds != 2 ||
        !clock.layers.empty())
      return 2;
    model.unload();
    return 0;
  });
}

TEST(LayerTimes, EachCallFails) {
  for (const char *call :
       {"cuEventCreate:1", "cuEventCreate:4", "cuEventRecord:1",
        "cuEventRecord:2", "cuEventRecord:3", "cuEventElapsedTime:2"}) {
    Outcome outcome = inChild(std::string("fail=") + call, [] {
      TestModel model;
      if (model.load())
        return 1;
      Clock clock;
      const ingot_abi_observer observer = clock.observer();
      if (model.run(2, bufferOf(), bufferOf(), &observer) !=
          INGOT_ABI_BACKEND_ERROR)
        return 2;
      fprintf(stderr, "%s\n", model.message);
      // The next run is not disturbed.
      clock = {};
      if (model.run(3, bufferOf(), bufferOf(), &observer))
        return 3;
      if (int wrong = check(clock))
        return wrong;
      model.unload();
      return 0;
    });
    EXPECT_EQ(outcome.code, 0) << call;
    const std::string name(call, strcspn(call, ":"));
    EXPECT_EQ(outcome.errors,
              name + " failed for a profile: CUDA_ERROR_UNKNOWN\n");
  }
}
