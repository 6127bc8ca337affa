//===- PoolTest.cpp - thread pool ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/host/Pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <set>
#include <thread>

using namespace ingot::test;

namespace {

struct PoolRelease {
  void operator()(ingot_pool *pool) const { ingot_pool_release(pool); }
};
using PoolPtr = std::unique_ptr<ingot_pool, PoolRelease>;

PoolPtr makePool(uint32_t threads, uint32_t spinUs = 0) {
  ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
  options.num_threads = threads;
  options.spin_us = spinUs;
  ingot_pool *pool = nullptr;
  ingot_error error = INGOT_ERROR_INIT;
  EXPECT_EQ(ingot_pool_create(&options, &pool, &error), INGOT_OK)
      << error.message;
  return PoolPtr(pool);
}

/// Checks that each task runs once, and before parallelFor returns. The
/// counters are not atomic.
void expectEachOnce(ingot_pool *pool, uint32_t threads, int64_t count) {
  std::vector<int> calls(size_t(count), 0);
  pool->parallelFor(
      threads,
      [](void *arg, int64_t i) {
        ++(*static_cast<std::vector<int> *>(arg))[size_t(i)];
      },
      &calls, count);
  for (int value : calls)
    ASSERT_EQ(value, 1);
}

TEST(Pool, EachTaskOnce) {
  for (uint32_t threads : {1u, 2u, 3u, 8u})
    for (uint32_t spinUs : {1u, 200u}) {
      PoolPtr pool = makePool(threads, spinUs);
      for (int64_t count : {0, 1, 2, 3, 7, 100, 5000})
        for (int i = 0; i < 20; ++i)
          expectEachOnce(pool.get(), threads, count);
    }
}

/// A crash handler and a profiler of the host must see a worker's signals. All
/// other signals are for the application's threads.
TEST(Pool, SignalsOfWorkers) {
  const std::set<int> own = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                             SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
  // The mask of the thread that starts them does not matter.
  for (bool blocked : {false, true}) {
    sigset_t mask, old;
    sigfillset(&mask);
    if (blocked)
      pthread_sigmask(SIG_SETMASK, &mask, &old);
    PoolPtr pool = makePool(3, 200);
    struct Seen {
      std::atomic<int> arrived{0}, workers{0}, wrong{0};
      const std::set<int> *own;
      pthread_t caller = pthread_self();
    } seen;
    seen.own = &own;
    pool->parallelFor(
        3,
        [](void *arg, int64_t) {
          Seen &seen = *static_cast<Seen *>(arg);
          // No thread takes a second task before each has one.
          auto awaitAll = [&] {
            ++seen.arrived;
            while (seen.arrived < 3)
              sched_yield();
          };
          if (pthread_equal(pthread_self(), seen.caller)) {
            awaitAll();
            return;
          }
          sigset_t mine;
          pthread_sigmask(SIG_SETMASK, nullptr, &mine);
          for (int signal = 1; signal < 32; ++signal)
            if (signal != SIGKILL && signal != SIGSTOP)
              seen.wrong += bool(sigismember(&mine, signal)) ==
                            bool(seen.own->count(signal));
          ++seen.workers;
          awaitAll();
        },
        &seen, 3);
    if (blocked) {
      sigset_t after;
      pthread_sigmask(SIG_SETMASK, &old, &after);
      EXPECT_EQ(sigismember(&after, SIGSEGV), 1) << "the caller's mask changed";
    }
    EXPECT_EQ(seen.workers, 2);
    EXPECT_EQ(seen.wrong, 0);
  }
}

TEST(Pool, ManyShortRegions) {
  PoolPtr pool = makePool(3, 5);
  for (int i = 0; i < 20000; ++i)
    expectEachOnce(pool.get(), 3, 3);
}

TEST(Pool, WorkersSleepAndWake) {
  PoolPtr pool = makePool(4, 1);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    expectEachOnce(pool.get(), 4, 64);
  }
}

TEST(Pool, ThreadsWorkAtTheSameTime) {
  // Each task waits for the other, so one thread alone would never end.
  PoolPtr pool = makePool(2);
  std::atomic<int> here{0};
  pool->parallelFor(
      2,
      [](void *arg, int64_t) {
        auto &count = *static_cast<std::atomic<int> *>(arg);
        ++count;
        while (count < 2)
          std::this_thread::yield();
      },
      &here, 2);
  EXPECT_EQ(here, 2);
}

TEST(Pool, NeverMoreThreadsThanAsked) {
  PoolPtr pool = makePool(8, 100);
  struct {
    std::atomic<int> now{0}, most{0};
  } seen;
  for (int i = 0; i < 50; ++i)
    pool->parallelFor(
        2,
        [](void *arg, int64_t) {
          auto &s = *static_cast<decltype(seen) *>(arg);
          int now = ++s.now, most = s.most;
          while (now > most && !s.most.compare_exchange_weak(most, now))
            ;
          std::this_thread::sleep_for(std::chrono::microseconds(20));
          --s.now;
        },
        &seen, 16);
  EXPECT_LE(seen.most, 2);
}

/// A thread gets the same part in the next region, so that its data is in its
/// cache.
TEST(Pool, ThreadsKeepTheirParts) {
  constexpr int64_t kTasks = 8;
  PoolPtr pool = makePool(2, 1000);
  struct {
    std::atomic<int> arrived{0};
    std::thread::id by[kTasks];
  } seen;
  std::vector<std::thread::id> first;
  for (int i = 0; i < 50; ++i) {
    seen.arrived = 0;
    pool->parallelFor(
        2,
        [](void *arg, int64_t i) {
          auto &s = *static_cast<decltype(seen) *>(arg);
          s.by[i] = std::this_thread::get_id();
          // Threads have no time to take tasks from each other.
          ++s.arrived;
          while (s.arrived < 2 * (i % (kTasks / 2) + 1))
            std::this_thread::yield();
        },
        &seen, kTasks);
    std::vector<std::thread::id> by(seen.by, seen.by + kTasks);
    for (int64_t k = 0; k < kTasks; ++k)
      EXPECT_EQ(by[size_t(k)], by[size_t(k / (kTasks / 2) * (kTasks / 2))]);
    EXPECT_EQ(by[0], std::this_thread::get_id());
    EXPECT_NE(by[kTasks - 1], by[0]);
    if (i == 0)
      first = by;
    EXPECT_EQ(by, first);
  }
}

TEST(Pool, ThreadsTakeFromEachOther) {
  // The caller's first task waits for all other tasks, including the caller's.
  constexpr int kTasks = 16;
  PoolPtr pool = makePool(2);
  std::atomic<int> done{0};
  pool->parallelFor(
      2,
      [](void *arg, int64_t i) {
        auto &done = *static_cast<std::atomic<int> *>(arg);
        while (i == 0 && done < kTasks - 1)
          std::this_thread::yield();
        ++done;
      },
      &done, kTasks);
  EXPECT_EQ(done, kTasks);
}

TEST(Pool, NestedRegionsRunInPlace) {
  PoolPtr pool = makePool(3);
  struct {
    ingot_pool *pool;
    std::atomic<int> sum{0};
  } state;
  state.pool = pool.get();
  pool->parallelFor(
      3,
      [](void *arg, int64_t) {
        static_cast<decltype(state) *>(arg)->pool->parallelFor(
            3,
            [](void *inner, int64_t i) {
              static_cast<decltype(state) *>(inner)->sum += int(i);
            },
            arg, 5);
      },
      &state, 4);
  EXPECT_EQ(state.sum, 40);
}

// Kernels keep scores and other data on the stack.
TEST(Pool, WorkersHaveRoomOnTheStack) {
  pthread_attr_t old, small;
  ASSERT_EQ(pthread_getattr_default_np(&old), 0);
  ASSERT_EQ(pthread_attr_init(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, 128 << 10), 0);
  ASSERT_EQ(pthread_setattr_default_np(&small), 0);
  PoolPtr pool = makePool(2);
  std::atomic<int> arrived{0};
  pool->parallelFor(
      2,
      [](void *arg, int64_t) {
        volatile char room[512 << 10];
        for (size_t i = sizeof(room); i > 0; i -= 1024)
          room[i - 1] = 1;
        // Waits until the other thread has arrived.
        auto *arrived = static_cast<std::atomic<int> *>(arg);
        for (++*arrived; *arrived < 2;)
          std::this_thread::yield();
      },
      &arrived, 2);
  EXPECT_EQ(arrived, 2);
  EXPECT_EQ(pthread_setattr_default_np(&old), 0);
  pthread_attr_destroy(&small);
  pthread_attr_destroy(&old);
}

TEST(Pool, SharedByManyCallers) {
  PoolPtr pool = makePool(3, 10);
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&] {
      for (int k = 0; k < 500; ++k)
        expectEachOnce(pool.get(), 3, 17);
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(Pool, CreateAndReleaseUnused) {
  for (int i = 0; i < 50; ++i)
    makePool(4);
}

TEST(Pool, ReleaseRightAfterWork) {
  for (int i = 0; i < 100; ++i)
    expectEachOnce(makePool(4, 1).get(), 4, 9);
}

TEST(Pool, Refuses) {
  ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
  ingot_error error = INGOT_ERROR_INIT;
  ingot_pool *pool = nullptr;
  options.num_threads = 1025;
  EXPECT_EQ(ingot_pool_create(&options, &pool, &error), INGOT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message,
               "a pool of 1025 threads was asked for, but 1024 is the most");
  EXPECT_EQ(ingot_pool_create(nullptr, nullptr, &error),
            INGOT_INVALID_ARGUMENT);
  options.num_threads = 2;
  options.reserved0 = 1;
  EXPECT_EQ(ingot_pool_create(&options, &pool, &error), INGOT_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_pool_thread_count(nullptr), 0u);
}

TEST(Pool, DefaultSize) {
  ingot_pool *pool = nullptr;
  ASSERT_EQ(ingot_pool_create(nullptr, &pool, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_pool_thread_count(pool), ingot_cpu_count());
  ingot_pool_release(pool);
}

} // namespace
