//===- Pool.cpp - thread pool ---------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Pool.h"

#include "runtime/host/Futex.h"

#include <initializer_list>
#include <new>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

using namespace ingot::rt;

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static uint64_t nowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

/// Spins until `done` returns true, at most `micros`. Returns false on timeout.
template <typename Done> static bool spin(uint32_t micros, Done done) {
  if (done())
    return true;
  if (!micros)
    return false;
  uint64_t end = nowNs() + uint64_t(micros) * 1000;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      relax();
    }
  } while (nowNs() < end);
  return false;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// Waits for a region and joins it. Returns false if the pool is stopped.
bool ingot_pool::awaitRegion(Part &own) {
  for (;;) {
    auto isCalled = [&] {
      uint32_t state = own.state.load(std::memory_order_relaxed);
      return state == invited || state == stopped;
    };
    uint32_t state = idle;
    if (!spin(spinUs, isCalled) &&
        own.state.compare_exchange_strong(state, asleep,
                                          std::memory_order_relaxed))
      while (own.state.load(std::memory_order_relaxed) == asleep)
        futexWait(own.state, asleep);
    // Join unless the caller has closed the region since this thread saw it
    // open.
    state = invited;
    if (own.state.compare_exchange_strong(state, inside,
                                          std::memory_order_acquire))
      return true;
    if (state == stopped)
      return false;
  }
}

/// Runs the thread's own tasks first. Then runs tasks of the following threads.
void ingot_pool::workOn(const Part &own) {
  uint32_t numParts = own.numParts, first = uint32_t(&own - parts);
  for (uint32_t i = 0; i < numParts; ++i) {
    uint32_t sum = first + i;
    Part &part = parts[sum < numParts ? sum : sum - numParts];
    int64_t end = part.end.load(std::memory_order_relaxed);
    // Read before writing, so that a part without tasks stays in the caches of
    // other threads.
    while (part.next.load(std::memory_order_relaxed) < end) {
      int64_t index = part.next.fetch_add(1, std::memory_order_relaxed);
      if (index < end)
        own.task(own.arg, index);
    }
  }
}

void *ingot_pool::workerMain(void *argument) {
  auto &own = *static_cast<Part *>(argument);
  while (own.pool->awaitRegion(own)) {
    own.pool->workOn(own);
    if (own.state.exchange(idle, std::memory_order_release) == awaited)
      futexWake(own.state, 1);
  }
  return nullptr;
}

/// Least stack size of threads. docs/reference/embedding.md promises a stack of
/// which tasks need at most half. A large stack costs little, because only its
/// used pages take memory.
static constexpr size_t kMinStack = size_t(1) << 20;

/// Starts a thread with a stack of at least kMinStack, even if the default is
/// smaller.
static bool startThread(pthread_t *thread, void *(*main)(void *), void *arg) {
  if (!hasThreads())
    return false;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  size_t size = 0;
  bool started = (pthread_attr_getstacksize(&attributes, &size) == 0 &&
                  (size >= kMinStack ||
                   pthread_attr_setstacksize(&attributes, kMinStack) == 0)) &&
                 pthread_create(thread, &attributes, main, arg) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

/// Blocks signals, so that the application's threads handle them. Does not
/// block signals that concern the thread itself. Signals of errors must reach
/// the application's crash handler, and SIGPROF must reach a profiler.
static void maskForWorkers(sigset_t &mask) {
  sigfillset(&mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS,
                     SIGPROF})
    sigdelset(&mask, signal);
}

/// Starts the workers. If some cannot start, the pool works without them.
void ingot_pool::startWorkers() {
  startTried = true;
  workers = static_cast<pthread_t *>(
      malloc(sizeof(pthread_t) * (numThreads - 1)));
  void *memory = nullptr;
  if (!workers ||
      posix_memalign(&memory, alignof(Part), sizeof(Part) * numThreads) != 0)
    return;
  parts = static_cast<Part *>(memory);
  for (uint32_t i = 0; i < numThreads; ++i)
    (new (&parts[i]) Part)->pool = this;
  // The workers inherit the mask.
  sigset_t mask, old;
  maskForWorkers(mask);
  sigprocmask(SIG_SETMASK, &mask, &old);
  while (numWorkers < numThreads - 1 &&
         startThread(&workers[numWorkers], workerMain,
                     &parts[numWorkers + 1]))
    ++numWorkers;
  sigprocmask(SIG_SETMASK, &old, nullptr);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Closes a region for a worker. Afterwards, the worker can no longer join. If
/// the worker has already joined, waits until it leaves.
void ingot_pool::awaitLeave(Part &worker) {
  uint32_t state = worker.state.load(std::memory_order_acquire);
  if (state == invited)
    worker.state.compare_exchange_strong(state, idle,
                                         std::memory_order_acquire);
  auto hasLeft = [&] {
    return worker.state.load(std::memory_order_acquire) != inside;
  };
  if (state == invited || spin(spinUs, hasLeft))
    return;
  state = inside;
  if (worker.state.compare_exchange_strong(state, awaited,
                                           std::memory_order_acquire))
    while (worker.state.load(std::memory_order_acquire) == awaited)
      futexWait(worker.state, awaited);
}

void ingot_pool::parallelFor(uint32_t threads, void (*task)(void *, int64_t),
                             void *arg, int64_t count) {
  int64_t useful = threads < numThreads ? threads : numThreads;
  if (useful > count)
    useful = count;
  // If another region holds the pool, run this region in its own thread. This
  // happens, for example, if a task itself opens a region.
  bool isOpen = useful > 1 && !taken.exchange(1, std::memory_order_acquire);
  if (isOpen) {
    if (!startTried)
      startWorkers();
    if (useful > int64_t(numWorkers) + 1)
      useful = int64_t(numWorkers) + 1;
  }
  if (!isOpen || useful <= 1) {
    for (int64_t i = 0; i < count; ++i)
      task(arg, i);
    if (isOpen)
      taken.store(0, std::memory_order_release);
    return;
  }

  // Writes all parts before any thread can take tasks from them.
  uint32_t numParts = uint32_t(useful);
  int64_t each = count / numParts, more = count % numParts, begin = 0;
  for (uint32_t i = 0; i < numParts; ++i) {
    Part &part = parts[i];
    part.numParts = numParts;
    part.task = task;
    part.arg = arg;
    part.next.store(begin, std::memory_order_relaxed);
    begin += each + (i < more);
    part.end.store(begin, std::memory_order_relaxed);
  }
  for (uint32_t i = 1; i < numParts; ++i)
    if (parts[i].state.exchange(invited, std::memory_order_release) == asleep)
      futexWake(parts[i].state, 1);

  workOn(parts[0]);

  for (uint32_t i = 1; i < numParts; ++i)
    awaitLeave(parts[i]);
  taken.store(0, std::memory_order_release);
}

void ingot_pool::stop() {
  for (uint32_t i = 1; i <= numWorkers; ++i)
    if (parts[i].state.exchange(stopped, std::memory_order_release) == asleep)
      futexWake(parts[i].state, 1);
  for (uint32_t i = 0; i < numWorkers; ++i)
    pthread_join(workers[i], nullptr);
  forgetWorkers();
}

/// Forgets the workers and any open region, because a forked child has only the
/// thread that called fork.
void ingot_pool::forgetWorkers() {
  free(workers);
  workers = nullptr;
  free(parts);
  parts = nullptr;
  numWorkers = 0;
  startTried = false;
  taken.store(0);
}
