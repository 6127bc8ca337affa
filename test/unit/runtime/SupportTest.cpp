//===- SupportTest.cpp - functions for generated code ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SupportHosts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

struct Counts {
  std::atomic<int> runs[64] = {};
};

void countTask(void *arg, int64_t index) {
  ++static_cast<Counts *>(arg)->runs[index];
}

TEST(Support, ParallelRunsEachTaskOnce) {
  for (uint32_t threads : {1u, 2u, 8u})
    for (int64_t count : {0, 1, 2, 3, 17, 64}) {
      Host host(threads);
      Counts counts;
      ingot_support_parallel(&host.call, countTask, &counts, count);
      for (int64_t i = 0; i < 64; ++i)
        EXPECT_EQ(counts.runs[i], i < count ? 1 : 0)
            << threads << " threads, task " << i << " of " << count;
      // The host is not called if one thread is enough.
      EXPECT_EQ(host.parallelRegions, threads > 1 && count > 1 ? 1 : 0);
    }
}

TEST(Support, OneThreadRunsTasksInOrder) {
  Host host(1);
  std::vector<int64_t> order;
  ingot_support_parallel(
      &host.call,
      [](void *arg, int64_t index) {
        static_cast<std::vector<int64_t> *>(arg)->push_back(index);
      },
      &order, 5);
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(Support, ChunksKeepThreadsBusy) {
  Host none(0), one(1), two(2), four(4);
  EXPECT_EQ(ingot_support_chunk(&none.call, 8, 1), 1u);
  EXPECT_EQ(ingot_support_chunk(&one.call, 8, 1), 1u);
  EXPECT_EQ(ingot_support_chunk(&one.call, 8, 3), 3u);
  EXPECT_EQ(ingot_support_chunk(&two.call, 8, 1), 2u);
  // Two equal chunks, with equally many images for each thread.
  EXPECT_EQ(ingot_support_chunk(&two.call, 9, 4), 6u);
  // All images form one chunk, and there is at least 1.
  EXPECT_EQ(ingot_support_chunk(&four.call, 3, 1), 3u);
  EXPECT_EQ(ingot_support_chunk(&four.call, 4, 1), 4u);
  EXPECT_EQ(ingot_support_chunk(&one.call, 0, 1), 1u);
  const ingot_abi_observer observer = {};
  one.call.observer = &observer;
  EXPECT_EQ(ingot_support_chunk(&one.call, 8, 1), 8u);
}

//===----------------------------------------------------------------------===//
// Memory of runs that stop
//===----------------------------------------------------------------------===//

void *allocateAligned(ingot_abi_call *call, uint64_t bytes) {
  void *memory = ingot_support_allocate(call, bytes, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % INGOT_ABI_ALIGNMENT, 0u);
  memset(memory, 0xaa, bytes);
  return memory;
}

TEST(Support, ARunThatStopsReleasesItsMemory) {
  LeakHost host;
  int32_t status = ingot_support_run(&host.call, [](ingot_abi_call *call) {
    void *first = allocateAligned(call, 1 << 20);
    void *second = allocateAligned(call, 0);
    allocateAligned(call, 100);
    void *last = allocateAligned(call, 7);
    ingot_support_release(call, second);
    ingot_support_release(call, last);
    ingot_support_release(call, first);
    allocateAligned(call, 1);
    ingot_support_require(call, 0, "stop here", 0, 0);
    FAIL() << "went on";
  });
  EXPECT_EQ(status, INGOT_ABI_RUNTIME_CHECK);
  EXPECT_STREQ(host.error, "stop here");
  EXPECT_EQ(host.live, 0);
}

TEST(Support, WhatTheLastRunLeftDoesNotMatter) {
  LeakHost host;
  host.call.status = INGOT_ABI_BUFFER_TOO_SMALL;
  EXPECT_EQ(ingot_support_run(&host.call, [](ingot_abi_call *) {}),
            INGOT_ABI_OK);
  EXPECT_EQ(host.call.status, INGOT_ABI_OK);
}

/// A later host, whose call is longer.
TEST(Support, LongerCalls) {
  LeakHost host;
  struct {
    ingot_abi_call call;
    uint64_t more[4];
  } longer = {host.call, {1, 2, 3, 4}};
  longer.call.struct_size = sizeof longer;
  EXPECT_EQ(ingot_support_run(&longer.call,
                              [](ingot_abi_call *call) {
                                EXPECT_EQ(call->struct_size, sizeof *call);
                                ingot_support_fail(call, 9, "no");
                              }),
            INGOT_ABI_RUNTIME_CHECK);
  EXPECT_STREQ(host.error, "no");
  EXPECT_EQ(longer.call.status, INGOT_ABI_RUNTIME_CHECK);
  EXPECT_EQ(longer.call.struct_size, sizeof longer);
  EXPECT_EQ(longer.more[3], 4u);
}

/// An observer ends the run at the end of a layer, and the run's memory is
/// released.
TEST(Support, AnObserverStopsARun) {
  for (int32_t status : {INGOT_ABI_CANCELLED, INGOT_ABI_BACKEND_ERROR}) {
    LeakHost host;
    static int32_t answer;
    static uint64_t last;
    answer = status;
    last = 77;
    ingot_abi_observer observer = {
        sizeof observer,
        0,
        nullptr,
        [](void *, uint64_t layer, uint64_t flops, uint64_t bytes) {
          EXPECT_EQ(flops, layer * 10);
          EXPECT_EQ(bytes, layer * 100);
          last = layer;
          return layer == 2 ? answer : int32_t(INGOT_ABI_OK);
        },
        nullptr,
        nullptr,
        nullptr};
    host.call.observer = &observer;
    EXPECT_EQ(ingot_support_run(&host.call,
                                [](ingot_abi_call *call) {
                                  for (uint64_t i = 0; i < 5; ++i) {
                                    allocateAligned(call, 1000);
                                    ingot_support_layer_end(call, i, i * 10,
                                                            i * 100);
                                  }
                                  FAIL() << "went on";
                                }),
              status);
    EXPECT_EQ(last, 2u);
    EXPECT_EQ(host.live, 0);
    EXPECT_STREQ(host.error, status == INGOT_ABI_CANCELLED
                                 ? "the run was cancelled"
                                 : "the run was stopped");
  }
}

/// Tensors are shown to an observer that wants them, and it may end the run.
TEST(Support, AnObserverSeesTensors) {
  static float elements[6] = {1, 2, 3, 4, 5, 6};
  static int seen;
  static int32_t answer;
  auto body = [](ingot_abi_call *call) {
    const int64_t dims[] = {2, 3}, strides[] = {3, 1};
    for (uint64_t i = 0; i < 2; ++i)
      ingot_support_observe(call, i, INGOT_ABI_FLOAT, 2, dims, strides,
                            elements);
  };
  ingot_abi_observer observer = {sizeof observer,
                                 0,
                                 &seen,
                                 nullptr,
                                 [](void *user, uint64_t tensor, uint32_t dtype,
                                    uint32_t rank, const int64_t *dims,
                                    const int64_t *strides, const void *data) {
                                   EXPECT_EQ(user, &seen);
                                   EXPECT_EQ(tensor, uint64_t(seen++));
                                   EXPECT_EQ(dtype, uint32_t(INGOT_ABI_FLOAT));
                                   EXPECT_EQ(rank, 2u);
                                   EXPECT_EQ(dims[1], 3);
                                   EXPECT_EQ(strides[0], 3);
                                   EXPECT_EQ(data, elements);
                                   return answer;
                                 },
                                 nullptr,
                                 nullptr};
  auto run = [&](int32_t status, int expected) {
    LeakHost host;
    answer = status, seen = 0;
    host.call.observer = &observer;
    EXPECT_EQ(ingot_support_run(&host.call, body), status);
    EXPECT_EQ(seen, expected);
  };
  run(INGOT_ABI_OK, 2);
  run(INGOT_ABI_CANCELLED, 1);
  // An observer without this function, or of a host that did not know it.
  auto *tensor = observer.tensor;
  observer.tensor = nullptr;
  run(INGOT_ABI_OK, 0);
  observer.tensor = tensor;
  observer.struct_size = offsetof(ingot_abi_observer, tensor);
  run(INGOT_ABI_OK, 0);
  LeakHost nobody;
  EXPECT_EQ(ingot_support_run(&nobody.call, body), INGOT_ABI_OK);
}

/// Each loop iteration asks an observer with `poll`, which may end the run.
TEST(Support, AnObserverIsPolled) {
  static int asked;
  auto body = [](ingot_abi_call *call) {
    for (int i = 0; i < 5; ++i)
      ingot_support_poll(call);
  };
  ingot_abi_observer observer = {sizeof observer,
                                 0,
                                 &asked,
                                 nullptr,
                                 nullptr,
                                 [](void *user) {
                                   return ++*static_cast<int *>(user) == 3
                                              ? int32_t(INGOT_ABI_CANCELLED)
                                              : int32_t(INGOT_ABI_OK);
                                 },
                                 nullptr};
  auto run = [&](int32_t status, int expected) {
    LeakHost host;
    asked = 0;
    host.call.observer = &observer;
    EXPECT_EQ(ingot_support_run(&host.call, body), status);
    EXPECT_EQ(asked, expected);
  };
  run(INGOT_ABI_CANCELLED, 3);
  // An older host does not know `poll`.
  observer.struct_size = offsetof(ingot_abi_observer, poll);
  run(INGOT_ABI_OK, 0);
  observer.struct_size = sizeof observer;
  observer.poll = nullptr;
  run(INGOT_ABI_OK, 0);
  LeakHost nobody;
  EXPECT_EQ(ingot_support_run(&nobody.call, body), INGOT_ABI_OK);
}

TEST(Support, ACheckShowsItsValues) {
  struct {
    const char *message;
    int64_t first, second;
    const char *shown;
  } cases[] = {
      {"{0} is not {1}", 3, 5000000, "3 is not 5000000"},
      {"{1}{0}", 0, -1, "-10"},
      {"{0}", INT64_MIN, 0, "-9223372036854775808"},
      {"{2} {0", 7, 8, "{2} {0"},
      {"", 7, 8, ""},
  };
  for (const auto &each : cases) {
    LeakHost host;
    static int64_t first, second;
    static const char *message;
    message = each.message, first = each.first, second = each.second;
    EXPECT_EQ(ingot_support_run(&host.call,
                                [](ingot_abi_call *call) {
                                  ingot_support_require(call, 1, "holds", 0, 0);
                                  ingot_support_require(call, 0, message, first,
                                                        second);
                                  FAIL() << "went on";
                                }),
              INGOT_ABI_RUNTIME_CHECK);
    EXPECT_STREQ(host.error, each.shown);
  }
}

TEST(Support, ACheckFitsIntoTheRoomForItsMessage) {
  LeakHost host;
  static const std::string longest(2000, 'x');
  EXPECT_EQ(ingot_support_run(&host.call,
                              [](ingot_abi_call *call) {
                                ingot_support_require(call, 0, longest.c_str(),
                                                      0, 0);
                              }),
            INGOT_ABI_RUNTIME_CHECK);
  EXPECT_LT(strlen(host.error), sizeof host.error);
  EXPECT_EQ(host.error[0], 'x');
}

TEST(Support, ARunWithoutMemoryReleasesWhatItHad) {
  LeakHost host;
  static LeakHost *running;
  running = &host;
  for (uint64_t bytes : {uint64_t(64), ~uint64_t(0), uint64_t(1) << 47}) {
    host.hasMemory = true;
    host.call.status = INGOT_ABI_OK;
    static uint64_t wanted;
    wanted = bytes;
    EXPECT_EQ(ingot_support_run(&host.call,
                                [](ingot_abi_call *call) {
                                  for (int i = 0; i < 5; ++i)
                                    allocateAligned(call, 1000);
                                  running->hasMemory = false;
                                  ingot_support_allocate(call, wanted, nullptr);
                                  FAIL() << "went on";
                                }),
              INGOT_ABI_OUT_OF_MEMORY);
    EXPECT_EQ(host.live, 0);
  }
}

/// A result that was computed in the caller's buffer is not copied. If there is
/// too little room, it is computed elsewhere, for the sizes of other outputs.
TEST(Support, OutputsAreComputedWhereTheyHaveRoom) {
  for (uint64_t room : {24u, 25u, 23u, 0u}) {
    LeakHost host;
    float y[7] = {-1, -1, -1, -1, -1, -1, -1};
    int64_t dims[2] = {-1, -1};
    ingot_abi_buffer output = {};
    output.data = y;
    output.dims = dims;
    output.bytes = room;
    host.call.outputs = &output;
    bool fits = room >= 24;
    int32_t status = ingot_support_run(&host.call, [](ingot_abi_call *call) {
      auto *data = static_cast<float *>(ingot_support_room(call, 0, 24,
                                                           nullptr));
      for (int i = 0; i < 6; ++i)
        data[i] = float(i);
      const int64_t sizes[2] = {2, 3};
      ingot_support_store_output(call, 0, 2, uintptr_t(sizes), uintptr_t(data),
                                 32);
    });
    EXPECT_EQ(status, fits ? INGOT_ABI_OK : INGOT_ABI_BUFFER_TOO_SMALL);
    EXPECT_EQ(dims[0], 2);
    EXPECT_EQ(dims[1], 3);
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(y[i], fits ? float(i) : -1) << "room of " << room;
    EXPECT_EQ(y[6], -1);
    EXPECT_EQ(host.live, 0);
  }
}

//===----------------------------------------------------------------------===//
// Floating-point state
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

/// Round to nearest, all exceptions masked, denormal values are zero.
constexpr uint32_t kRunState = 0x9fc0;

/// Restores the state of the test's thread.
struct SavedState {
  uint32_t saved = _mm_getcsr();
  ~SavedState() { _mm_setcsr(saved); }
};

/// The floating-point state that a task body saw, between calls of the host.
uint32_t seen;

TEST(Support, StateIsTheRunsOwn) {
  SavedState state;
  for (uint32_t before : {0x1f80u, 0x1f80u | 0x6000u, 0x1f80u | 0x8040u, 0u,
                          0x1fbfu, 0x5f80u, 0xffffu}) {
    Host host(1);
    _mm_setcsr(before);
    seen = 0;
    EXPECT_EQ(ingot_support_run(&host.call,
                                [](ingot_abi_call *) { seen = _mm_getcsr(); }),
              INGOT_ABI_OK);
    EXPECT_EQ(_mm_getcsr(), before);
    EXPECT_EQ(seen, kRunState);
  }
}

TEST(Support, StateComesBackWhenARunStopsEarly) {
  SavedState state;
  Host host(1);
  host.hasMemory = false;
  _mm_setcsr(0x1f80);
  seen = 0;
  EXPECT_EQ(ingot_support_run(&host.call,
                              [](ingot_abi_call *call) {
                                ingot_support_allocate(call, 64, nullptr);
                                seen = 1;
                              }),
            INGOT_ABI_OUT_OF_MEMORY);
  EXPECT_EQ(seen, 0u) << "went on without memory";
  EXPECT_EQ(_mm_getcsr(), 0x1f80u);
  EXPECT_STRNE(host.error, "");
}

struct ThreadStates {
  std::atomic<int> wrong = 0;
};

TEST(Support, DenormalsAreZeroOnEveryThread) {
  SavedState state;
  _mm_setcsr(0x1f80);
  static std::atomic<int> leaked;
  leaked = 0;
  Host host(4);
  // A host's thread must have an equal state before and after a task.
  host.abi.parallel_for = [](void *, void (*task)(void *, int64_t), void *arg,
                             int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      std::thread([=] {
        uint32_t before = _mm_getcsr();
        task(arg, i);
        leaked += _mm_getcsr() != before;
      }).join();
  };
  ThreadStates states;
  ingot_support_parallel(
      &host.call,
      [](void *arg, int64_t) {
        bool isFlushed = _mm_getcsr() == kRunState;
        volatile float tiny = 1e-38f;
        volatile float product = tiny * 0.01f;
        if (!isFlushed || product != 0)
          ++static_cast<ThreadStates *>(arg)->wrong;
      },
      &states, 8);
  EXPECT_EQ(states.wrong, 0);
  EXPECT_EQ(leaked, 0);
  EXPECT_EQ(_mm_getcsr(), 0x1f80u);
}

#endif

} // namespace
