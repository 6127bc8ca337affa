//===- SupportTest.cpp - what generated code calls ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/support/support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

/// A host with threads of its own: every task runs on another thread than the
/// caller's, all at once.
struct Host {
  ingot_abi_host abi = {};
  ingot_abi_call call = {};
  char error[64] = "";
  int parallelRegions = 0;
  bool hasMemory = true;

  explicit Host(uint32_t threads) {
    abi.struct_size = sizeof abi;
    abi.num_threads = threads;
    abi.user = this;
    abi.allocate = [](void *user, uint64_t bytes, uint64_t) -> void * {
      return static_cast<Host *>(user)->hasMemory ? malloc(bytes) : nullptr;
    };
    abi.release = [](void *, void *pointer) { free(pointer); };
    abi.parallel_for = [](void *user, void (*task)(void *, int64_t), void *arg,
                          int64_t count) {
      ++static_cast<Host *>(user)->parallelRegions;
      std::vector<std::thread> threads;
      for (int64_t i = 0; i < count; ++i)
        threads.emplace_back([=] { task(arg, i); });
      for (std::thread &thread : threads)
        thread.join();
    };
    call.struct_size = sizeof call;
    call.host = &abi;
    call.error = error;
    call.error_bytes = sizeof error;
  }
};

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
      // The host is not asked for what one thread does as well.
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

//===----------------------------------------------------------------------===//
// Models without libingot
//===----------------------------------------------------------------------===//

template <int level> int32_t runLevel(ingot_abi_call *call) {
  *static_cast<int *>(call->inputs[0].data) = level;
  return *static_cast<int *>(call->state) == level ? INGOT_ABI_OK
                                                   : INGOT_ABI_BACKEND_ERROR;
}
template <int level>
int32_t loadLevel(const ingot_abi_host *, const void *, void **state, char *,
                  uint64_t) {
  *state = new int(level);
  return INGOT_ABI_OK;
}
void unloadLevel(const ingot_abi_host *, void *state) {
  delete static_cast<int *>(state);
}

/// The level that runs under a cap, or -1 with a message.
int levelUnder(const char *cap, const ingot_abi_artifact &artifact,
               char (&error)[256]) {
  setenv("INGOT_MAX_ISA", cap, 1);
  ingot_support_model *model =
      ingot_support_create(&artifact, nullptr, 1, error, sizeof error);
  unsetenv("INGOT_MAX_ISA");
  if (!model)
    return -1;
  int ran = -2;
  ingot_abi_buffer input = {&ran, nullptr, sizeof ran};
  EXPECT_EQ(ingot_support_call(model, &input, nullptr, error, sizeof error),
            INGOT_ABI_OK);
  ingot_support_destroy(model);
  return ran;
}

TEST(Support, CreateChoosesTheCpuLevel) {
  const ingot_abi_variant rows[] = {
      {"x86-64-v2", 0x1, 0, loadLevel<0>, unloadLevel, runLevel<0>},
      {"x86-64-v3", 0x3f, 0, loadLevel<1>, unloadLevel, runLevel<1>},
      {"future", ~uint64_t(0), 0, loadLevel<2>, unloadLevel, runLevel<2>}};
  ingot_abi_artifact artifact = {};
  artifact.struct_size = sizeof artifact;
  auto setLowest = [&](const ingot_abi_variant &row) {
    artifact.target = row.target;
    artifact.cpu_features = row.cpu_features;
    artifact.load = row.load;
    artifact.unload = row.unload;
    artifact.run = row.run;
  };
  setLowest(rows[0]);
  artifact.num_variants = 3;
  artifact.variant_bytes = sizeof(ingot_abi_variant);
  artifact.variants = rows;
  char error[256] = "";
  if (levelUnder("x86-64-v2", artifact, error) == -1)
    GTEST_SKIP() << "this CPU is below x86-64-v2: " << error;
  EXPECT_EQ(levelUnder("x86-64-v2", artifact, error), 0);
  bool hasV3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  EXPECT_EQ(levelUnder("sapphirerapids", artifact, error), hasV3 ? 1 : 0);

  setLowest(rows[1]);
  artifact.num_variants = 2;
  artifact.variants = rows + 1;
  EXPECT_EQ(levelUnder("x86-64-v2", artifact, error), -1);
  EXPECT_NE(strstr(error, "compiled for x86-64-v3, future and needs at least "
                          "avx, avx2, fma, f16c, bmi2, which "
                          "INGOT_MAX_ISA=x86-64-v2 rules out"),
            nullptr)
      << error;
}

#if defined(__x86_64__)

constexpr uint32_t kFlushBits = 0x8040;

/// Puts the state of the test's thread back.
struct SavedState {
  uint32_t saved = _mm_getcsr();
  ~SavedState() { _mm_setcsr(saved); }
};

/// The state that a body saw; the host's calls are in between.
uint32_t seen;

TEST(Support, DenormalsAreZeroInARunOnly) {
  SavedState state;
  // Rounding mode and masks of the caller stay; the run sets its two bits.
  for (uint32_t before : {0x1f80u, 0x1f80u | 0x6000u, 0x1f80u | kFlushBits}) {
    Host host(1);
    _mm_setcsr(before);
    seen = 0;
    EXPECT_EQ(ingot_support_run(&host.call,
                                [](ingot_abi_call *) { seen = _mm_getcsr(); }),
              INGOT_ABI_OK);
    EXPECT_EQ(_mm_getcsr(), before);
    EXPECT_EQ(seen, before | kFlushBits);
    EXPECT_EQ(host.call.unwind, nullptr);
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
                                ingot_support_allocate(call, 64);
                                seen = 1;
                              }),
            INGOT_ABI_OUT_OF_MEMORY);
  EXPECT_EQ(seen, 0u) << "went on without memory";
  EXPECT_EQ(_mm_getcsr(), 0x1f80u);
  EXPECT_EQ(host.call.unwind, nullptr);
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
  // A thread of the host must look the same before and after a task.
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
        bool isFlushed = (_mm_getcsr() & kFlushBits) == kFlushBits;
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
