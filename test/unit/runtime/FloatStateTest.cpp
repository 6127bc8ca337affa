//===- FloatStateTest.cpp - results do not depend on the caller's mode ----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#if defined(__x86_64__)
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string.h>
#include <thread>
#include <xmmintrin.h>

using namespace ingot::test;

namespace {

constexpr size_t count = 33 * 6;

/// The floating-point state of a thread.
struct FloatState {
  uint32_t sse = 0x1f80;
  uint16_t x87 = 0x37f;

  static FloatState now() {
    FloatState state;
    state.sse = _mm_getcsr();
    __asm__ volatile("fnstcw %0" : "=m"(state.x87));
    return state;
  }
  void set() const {
    _mm_setcsr(sse);
    __asm__ volatile("fldcw %0" : : "m"(x87));
  }
  bool operator==(const FloatState &other) const {
    return sse == other.sse && x87 == other.x87;
  }
};

/// Returns all states that a caller may have: rounding, denormal values,
/// exceptions that trap, and old flags, in SSE and x87.
std::vector<FloatState> callerStates() {
  std::vector<FloatState> states;
  for (uint32_t rounding = 0; rounding < 4; ++rounding)
    for (uint32_t denormals : {0x0000u, 0x8000u, 0x0040u, 0x8040u})
      for (uint32_t masks : {0x1f80u, 0x0000u, 0x1d80u})
        for (uint32_t flags : {0x00u, 0x3fu})
          states.push_back(
              {rounding << 13 | denormals | masks | flags,
               // Extended or double precision; zero division and overflow trap.
               uint16_t(0x40 | rounding << 10 | (flags ? 0x200 : 0x300) |
                        (masks == 0x1f80u ? 0x3f : 0x33))});
  return states;
}

struct Bits {
  double y[count];
  bool operator==(const Bits &other) const {
    return !memcmp(y, other.y, sizeof(y));
  }
};

Bits runIn(const FloatState &state, ingot_context *context) {
  double x[count];
  for (size_t i = 0; i < count; ++i)
    x[i] = double(i % 7) + 1.3;
  Bits bits;
  memset(&bits, 0xff, sizeof(bits));
  ingot_input input = ingot_input_make(x, sizeof(x), nullptr, 0, INGOT_DOUBLE);
  ingot_output output =
      ingot_output_make(bits.y, sizeof(bits.y), nullptr, 0, INGOT_DOUBLE);
  FloatState before = FloatState::now();
  state.set();
  ingot_status status =
      ingot_context_run(context, &input, 1, &output, 1, nullptr, nullptr);
  FloatState after = FloatState::now();
  before.set();
  EXPECT_EQ(status, INGOT_OK);
  EXPECT_EQ(after.sse, state.sse);
  EXPECT_EQ(after.x87, state.x87);
  return bits;
}

/// Threads that stay in the state in which they were started.
class Executor {
public:
  Executor(uint32_t threads, const FloatState &state) : state(state) {
    for (uint32_t i = 1; i < threads; ++i)
      workers.emplace_back([this] { work(); });
    api.num_threads = threads;
    api.user = this;
    api.parallel_for = [](void *user, void (*task)(void *, int64_t), void *arg,
                          int64_t count) {
      static_cast<Executor *>(user)->parallelFor(
          [=](int64_t i) { task(arg, i); }, count);
    };
  }
  ~Executor() {
    {
      std::lock_guard<std::mutex> guard(lock);
      stopping = true;
    }
    changed.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }
  /// Returns true if every thread had its state back after each task.
  bool isUntouched() const { return !touched; }

  ingot_executor api = INGOT_EXECUTOR_INIT;

private:
  void takeTasks(std::unique_lock<std::mutex> &guard) {
    while (next < end) {
      int64_t mine = next++;
      guard.unlock();
      FloatState before = FloatState::now();
      task(mine);
      touched = touched || !(FloatState::now() == before);
      guard.lock();
      if (++done == end)
        changed.notify_all();
    }
  }
  void work() {
    state.set();
    std::unique_lock<std::mutex> guard(lock);
    while (!stopping) {
      takeTasks(guard);
      if (!stopping)
        changed.wait(guard);
    }
  }
  void parallelFor(std::function<void(int64_t)> body, int64_t total) {
    std::unique_lock<std::mutex> guard(lock);
    task = std::move(body);
    next = done = 0;
    end = total;
    changed.notify_all();
    takeTasks(guard);
    changed.wait(guard, [&] { return done == end; });
    end = 0;
  }

  FloatState state;
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::thread> workers;
  std::function<void(int64_t)> task;
  int64_t next = 0, end = 0, done = 0;
  std::atomic<bool> touched{false};
  bool stopping = false;
};

class FloatStates : public testing::Test {
protected:
  void SetUp() override {
    model = load(artifactPath("rounding"));
    ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
    options.num_threads = 1;
    expected = runIn(FloatState(), makeContext(model, &options).get());
    // Rounded to nearest, denormal values are zero, and nothing trapped.
    EXPECT_EQ(expected.y[0], double(1.3f / 2.3f));
    EXPECT_EQ(expected.y[2], 0);
    EXPECT_EQ(expected.y[3], 0);
    EXPECT_TRUE(std::isinf(expected.y[4]));
  }

  ModelPtr model;
  Bits expected;
};

TEST_F(FloatStates, SharedPool) {
  ContextPtr context = makeContext(model);
  for (const FloatState &state : callerStates())
    EXPECT_TRUE(runIn(state, context.get()) == expected)
        << std::hex << state.sse;
}

/// Workers inherit the state of the thread that starts them.
TEST_F(FloatStates, PoolsThatStartInAnyState) {
  for (const FloatState &state : callerStates())
    for (uint32_t threads : {1u, 2u, 4u}) {
      ingot_pool_options poolOptions = INGOT_POOL_OPTIONS_INIT;
      poolOptions.num_threads = threads;
      ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
      ASSERT_EQ(ingot_pool_create(&poolOptions, &options.pool, nullptr),
                INGOT_OK);
      ContextPtr context = makeContext(model, &options);
      for (int repeat = 0; repeat < 3; ++repeat)
        EXPECT_TRUE(runIn(state, context.get()) == expected)
            << std::hex << state.sse << " on " << threads;
      ingot_pool_release(options.pool);
    }
}

TEST_F(FloatStates, ExecutorsInAnyState) {
  std::vector<FloatState> states = callerStates();
  for (size_t i = 0; i < states.size(); ++i) {
    Executor executor(3, states[(i * 7) % states.size()]);
    ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
    options.executor = &executor.api;
    ContextPtr context = makeContext(model, &options);
    // The calling thread also runs tasks, from within libingot.
    FloatState before = FloatState::now();
    EXPECT_TRUE(runIn(states[i], context.get()) == expected)
        << std::hex << states[i].sse;
    EXPECT_TRUE(FloatState::now() == before);
    EXPECT_TRUE(executor.isUntouched());
  }
}

} // namespace
#endif
