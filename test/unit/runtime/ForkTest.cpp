//===- ForkTest.cpp - forking after load --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/host/LibraryThreads.h"
#include "runtime/host/Pool.h"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define INGOT_TSAN 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define INGOT_TSAN 1
#endif

using namespace ingot::test;

namespace {

class Fork : public testing::Test {
protected:
  void SetUp() override {
#ifdef INGOT_TSAN
    GTEST_SKIP() << "ThreadSanitizer allows no new threads after a fork";
#endif
  }
};

/// Runs `check` in a forked child. Returns true if the child reports success
/// within ten seconds.
template <typename Check> bool inChild(Check check) {
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool runsRight(ingot_context *context) {
  StaticRun run;
  return run(context) == INGOT_OK && run.right();
}

ContextPtr makeThreaded(const ModelPtr &model, ingot_pool *pool) {
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  options.pool = pool;
  return makeContext(model, &options);
}

TEST_F(Fork, ChildRunsWhatTheParentLoaded) {
  ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
  options.num_threads = 4;
  ingot_pool *pool = nullptr;
  ASSERT_EQ(ingot_pool_create(&options, &pool, nullptr), INGOT_OK);
  ModelPtr model = load(artifactPath("static"));
  ContextPtr context = makeThreaded(model, pool);
  ContextPtr shared = makeContext(model);
  ASSERT_TRUE(runsRight(context.get()));
  ASSERT_TRUE(runsRight(shared.get()));
  EXPECT_TRUE(inChild([&] {
    bool right = true;
    for (int i = 0; i < 100; ++i)
      right &= runsRight(context.get()) && runsRight(shared.get());
    // A new model and context, and a child of the child.
    right &= runsRight(makeContext(load(artifactPath("static"))).get());
    right &= inChild([&] { return runsRight(context.get()); });
    context.reset();
    shared.reset();
    model.reset();
    ingot_pool_release(pool);
    return right;
  }));
  EXPECT_TRUE(runsRight(context.get()));
  ingot_pool_release(pool);
}

TEST_F(Fork, WorkersOfTheChildWork) {
  ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
  options.num_threads = 2;
  ingot_pool *pool = nullptr;
  ASSERT_EQ(ingot_pool_create(&options, &pool, nullptr), INGOT_OK);
  // Ends only if two threads take part.
  auto meet = [&] {
    std::atomic<int> here{0};
    pool->parallelFor(
        2,
        [](void *arg, int64_t) {
          auto &count = *static_cast<std::atomic<int> *>(arg);
          for (++count; count < 2;)
            std::this_thread::yield();
        },
        &here, 2);
    return here == 2;
  };
  ASSERT_TRUE(meet());
  EXPECT_TRUE(inChild(meet));
  EXPECT_TRUE(meet());
  ingot_pool_release(pool);
}

TEST_F(Fork, WhileAnotherThreadRuns) {
  ModelPtr model = load(artifactPath("static"));
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    ContextPtr context = makeContext(model);
    while (!stop)
      EXPECT_TRUE(runsRight(context.get()));
  });
  ContextPtr own = makeContext(model);
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(inChild([&] { return runsRight(own.get()); }));
  stop = true;
  busy.join();
}

TEST_F(Fork, WhileOtherThreadsLoad) {
  std::atomic<bool> stop{false};
  auto loadAndRelease = [&] {
    while (!stop)
      EXPECT_TRUE(load(artifactPath("static")));
  };
  std::thread first(loadAndRelease), second(loadAndRelease);
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(inChild([&] {
      return runsRight(makeContext(load(artifactPath("static"))).get());
    }));
  stop = true;
  first.join();
  second.join();
}

TEST_F(Fork, LibrariesWithThreadsRunOnOneInTheChild) {
  ModelPtr model = load(artifactPath("own_threads"));
  ContextPtr context = makeContext(model);
  EXPECT_TRUE(runsRight(context.get()));
  EXPECT_TRUE(inChild([&] {
    return runsRight(context.get()) &&
           ingot_context_thread_count(context.get()) == 1 &&
           ingot::rt::libraryThreadsLostByFork();
  }));
  EXPECT_FALSE(ingot::rt::libraryThreadsLostByFork());
}

} // namespace
