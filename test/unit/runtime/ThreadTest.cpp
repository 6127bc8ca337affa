//===- ThreadTest.cpp - many contexts in many threads -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <sched.h>
#include <string.h>
#include <thread>

using namespace ingot::test;

namespace {

TEST(Threads, ManyContextsOverOneModel) {
  ModelPtr model = load(artifactPath("static"));
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      ContextPtr context = makeContext(model);
      for (int i = 0; i < 300; ++i) {
        StaticRun run;
        right += run(context.get()) == INGOT_OK && run.right();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8 * 300);
}

TEST(Threads, LoadAndReleaseInManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 40; ++i) {
        StaticRun run;
        right += run(makeContext(load(artifactPath("static"))).get()) ==
                     INGOT_OK &&
                 run.right();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 6 * 40);
}

TEST(Threads, OneContextInTwoThreadsIsBusy) {
  ModelPtr model = load(artifactPath("slow"));
  ContextPtr context = makeContext(model);
  int flags[2] = {0, 0};
  uint64_t x = reinterpret_cast<uint64_t>(flags), y = 0;
  ingot_input input = ingot_input_make(&x, 8, nullptr, 0, INGOT_UINT64);
  ingot_output output = ingot_output_make(&y, 8, nullptr, 0, INGOT_UINT64);
  std::thread runner([&] {
    EXPECT_EQ(ingot_context_run(context.get(), &input, 1, &output, 1, nullptr,
                                nullptr),
              INGOT_OK);
  });
  while (!__atomic_load_n(&flags[0], __ATOMIC_ACQUIRE))
    sched_yield();
  ingot_error error = INGOT_ERROR_INIT;
  uint64_t other = 0;
  ingot_output second = ingot_output_make(&other, 8, nullptr, 0, INGOT_UINT64);
  EXPECT_EQ(
      ingot_context_run(context.get(), &input, 1, &second, 1, nullptr, &error),
      INGOT_BUSY);
  EXPECT_NE(strstr(error.message, "make one context for each thread"), nullptr);
  EXPECT_EQ(other, 0u);
  ingot_context_trim(context.get()); // must not touch a running context
  __atomic_store_n(&flags[1], 1, __ATOMIC_RELEASE);
  runner.join();
  EXPECT_EQ(y, 42u);
  EXPECT_EQ(
      ingot_context_run(context.get(), &input, 1, &second, 1, nullptr, &error),
      INGOT_OK);
}

} // namespace
