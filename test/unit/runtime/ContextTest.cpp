//===- ContextTest.cpp - creating contexts ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <string.h>

using namespace ingot::test;

namespace {

void expectRefused(const ModelPtr &model, const ingot_context_options &options,
                   ingot_status status, const std::string &part) {
  ingot_error error = INGOT_ERROR_INIT;
  auto *untouched = reinterpret_cast<ingot_context *>(8);
  ingot_context *context = untouched;
  EXPECT_EQ(ingot_context_create(model.get(), &options, &context, &error),
            status);
  EXPECT_EQ(context, untouched);
  expectOneLine(error.message);
  EXPECT_NE(std::string(error.message).find(part), std::string::npos)
      << error.message;
}

TEST(Context, CallersArena) {
  ModelPtr model = load(artifactPath("static"));
  alignas(64) static unsigned char arena[4096 + 64];
  CountingAllocator allocator;
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.allocator = &allocator.api;
  options.arena = arena;
  options.arena_bytes = 4096;
  ContextPtr context = makeContext(model, &options);
  StaticRun run;
  EXPECT_EQ(run(context.get()), INGOT_OK);
  EXPECT_TRUE(run.right());
  EXPECT_EQ(allocator.allocations, 0);
  float first;
  memcpy(&first, arena, sizeof(first));
  EXPECT_EQ(first, 1);

  options.arena_bytes = 4095;
  expectRefused(model, options, INGOT_BUFFER_TOO_SMALL,
                "the arena has 4095 bytes, but the model needs 4096");
  options.arena_bytes = 4096;
  options.arena = arena + 32;
  expectRefused(model, options, INGOT_INVALID_ARGUMENT, "not aligned to 64");
}

TEST(Context, CallersAllocator) {
  ModelPtr model = load(artifactPath("static"));
  CountingAllocator allocator;
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.allocator = &allocator.api;
  {
    ContextPtr context = makeContext(model, &options);
    EXPECT_EQ(allocator.allocations, 1);
    StaticRun run;
    EXPECT_EQ(run(context.get()), INGOT_OK);
    EXPECT_EQ(allocator.allocations, 1);
  }
  EXPECT_EQ(allocator.live, 0);
  allocator.fail = true;
  expectRefused(model, options, INGOT_OUT_OF_MEMORY,
                "no memory for an arena of 4096 bytes");
  allocator.api.release = nullptr;
  expectRefused(model, options, INGOT_INVALID_ARGUMENT,
                "needs both allocate and release");
}

struct Executor {
  int calls = 0;
  ingot_executor api = {sizeof(ingot_executor), 3, this,
                        [](void *user, void (*task)(void *, int64_t), void *arg,
                           int64_t count) {
                          ++static_cast<Executor *>(user)->calls;
                          while (count--)
                            task(arg, count);
                        }};
};

TEST(Context, CallersExecutor) {
  ModelPtr model = load(artifactPath("static"));
  Executor executor;
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.executor = &executor.api;
  ContextPtr context = makeContext(model, &options);
  EXPECT_EQ(ingot_context_thread_count(context.get()), 3u);
  StaticRun run;
  EXPECT_EQ(run(context.get()), INGOT_OK);
  EXPECT_TRUE(run.right());
  EXPECT_EQ(executor.calls, 1);

  // A run on one thread needs no executor.
  options.num_threads = 1;
  ContextPtr serial = makeContext(model, &options);
  EXPECT_EQ(ingot_context_thread_count(serial.get()), 1u);
  EXPECT_EQ(run(serial.get()), INGOT_OK);
  EXPECT_EQ(executor.calls, 1);

  executor.api.num_threads = 0;
  expectRefused(model, options, INGOT_INVALID_ARGUMENT,
                "needs parallel_for and at least one thread");
}

TEST(Context, PoolAndExecutor) {
  ModelPtr model = load(artifactPath("static"));
  ingot_pool *pool = nullptr;
  ASSERT_EQ(ingot_pool_create(nullptr, &pool, nullptr), INGOT_OK);
  Executor executor;
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.executor = &executor.api;
  options.pool = pool;
  expectRefused(model, options, INGOT_INVALID_ARGUMENT, "not both");
  ingot_pool_release(pool);
}

TEST(Context, ThreadCount) {
  ModelPtr model = load(artifactPath("static"));
  EXPECT_EQ(ingot_context_thread_count(makeContext(model).get()),
            ingot_cpu_count());
  ingot_pool_options poolOptions = INGOT_POOL_OPTIONS_INIT;
  poolOptions.num_threads = 5;
  ingot_pool *pool = nullptr;
  ASSERT_EQ(ingot_pool_create(&poolOptions, &pool, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_pool_thread_count(pool), 5u);
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.pool = pool;
  ContextPtr all = makeContext(model, &options);
  options.num_threads = 2;
  ContextPtr two = makeContext(model, &options);
  options.num_threads = 9;
  ContextPtr more = makeContext(model, &options);
  ingot_pool_release(pool); // The contexts keep it.
  EXPECT_EQ(ingot_context_thread_count(all.get()), 5u);
  EXPECT_EQ(ingot_context_thread_count(two.get()), 2u);
  EXPECT_EQ(ingot_context_thread_count(more.get()), 5u);
  EXPECT_EQ(ingot_context_thread_count(nullptr), 0u);
  for (auto *context : {&all, &two, &more}) {
    StaticRun run;
    EXPECT_EQ(run(context->get()), INGOT_OK);
    EXPECT_TRUE(run.right());
  }
}

TEST(Context, OptionsFromANewerCaller) {
  ModelPtr model = load(artifactPath("static"));
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.reserved[0] = 1;
  expectRefused(model, options, INGOT_INVALID_ARGUMENT, "must be zero");
  options = {};
  expectRefused(model, options, INGOT_INVALID_ARGUMENT, "struct_size is 0");
}

} // namespace
