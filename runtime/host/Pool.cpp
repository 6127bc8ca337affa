//===- Pool.cpp - thread pool ---------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Pool.h"

#include "runtime/host/Futex.h"

#include <initializer_list>
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

/// Spins until `done` or for `micros`; false if the time is up.
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

/// Waits until the epoch differs from `seen` or the pool stops.
uint32_t ingot_pool::awaitEpoch(uint32_t seen) {
  auto changed = [&] {
    return epoch.load(std::memory_order_acquire) != seen ||
           stopping.load(std::memory_order_relaxed);
  };
  if (!spin(spinUs, changed)) {
    // The caller bumps the epoch before it reads `sleepers`, and the kernel
    // compares the epoch again: a wake-up cannot fall between.
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while (!changed())
      futexWait(epoch, seen);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  return epoch.load(std::memory_order_acquire);
}

bool ingot_pool::join() {
  uint64_t now = state.load(std::memory_order_relaxed);
  while ((now & openBit) && (now & joinsMask))
    if (state.compare_exchange_weak(now, now - oneJoin + 1,
                                    std::memory_order_acquire,
                                    std::memory_order_relaxed))
      return true;
  return false;
}

void ingot_pool::leave() {
  uint64_t before = state.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & insideMask) == 1 && (before & waitingBit))
    futexWakeLowHalf(state);
}

void ingot_pool::workOn() {
  for (;;) {
    int64_t index = next.fetch_add(1, std::memory_order_relaxed);
    if (index >= count)
      return;
    task(arg, index);
  }
}

void *ingot_pool::workerMain(void *argument) {
  auto *pool = static_cast<ingot_pool *>(argument);
  uint32_t seen = 0;
  for (;;) {
    seen = pool->awaitEpoch(seen);
    if (pool->stopping.load(std::memory_order_acquire))
      return nullptr;
    if (pool->join()) {
      pool->workOn();
      pool->leave();
    }
  }
}

/// What tasks may need of a thread's stack, with room to spare:
/// docs/embedding.md promises half of it to be enough. Threads get no more of
/// it than they touch.
static constexpr size_t kMinStack = size_t(1) << 20;

/// Starts a thread; a system's or a process's default of small stacks does not
/// bind it.
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

/// Signals belong to the application's threads, but for those that are about
/// the very thread that they are sent to: what it did wrong, which is for the
/// application's crash handler, and what it did, which is for a profiler.
static void maskForWorkers(sigset_t &mask) {
  sigfillset(&mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS,
                     SIGPROF})
    sigdelset(&mask, signal);
}

/// A pool that cannot get all of its threads works with those it got.
void ingot_pool::startWorkers() {
  startTried = true;
  workers = static_cast<pthread_t *>(
      malloc(sizeof(pthread_t) * (numThreads - 1)));
  if (!workers)
    return;
  // The workers take over the mask.
  sigset_t mask, old;
  maskForWorkers(mask);
  sigprocmask(SIG_SETMASK, &mask, &old);
  while (numWorkers < numThreads - 1 &&
         startThread(&workers[numWorkers], workerMain, this))
    ++numWorkers;
  sigprocmask(SIG_SETMASK, &old, nullptr);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void ingot_pool::parallelFor(uint32_t threads, void (*work)(void *, int64_t),
                             void *workArg, int64_t workCount) {
  int64_t useful = threads < numThreads ? threads : numThreads;
  if (useful > workCount)
    useful = workCount;
  // Also taken when a task itself opens a region: it runs in its own thread.
  if (useful <= 1 || taken.exchange(1, std::memory_order_acquire)) {
    for (int64_t i = 0; i < workCount; ++i)
      work(workArg, i);
    return;
  }
  if (!startTried)
    startWorkers();

  task = work;
  arg = workArg;
  count = workCount;
  next.store(0, std::memory_order_relaxed);
  state.store(openBit | uint64_t(useful - 1) * oneJoin,
              std::memory_order_release);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst))
    futexWake(epoch, int(useful - 1));

  workOn();

  uint64_t now = state.fetch_and(insideMask, std::memory_order_acq_rel);
  auto allLeft = [&] {
    return !(state.load(std::memory_order_acquire) & insideMask);
  };
  if ((now & insideMask) && !spin(spinUs, allLeft)) {
    state.fetch_or(waitingBit, std::memory_order_acq_rel);
    while (uint32_t inside = uint32_t(state.load(std::memory_order_acquire)))
      futexWaitLowHalf(state, inside);
  }
  taken.store(0, std::memory_order_release);
}

void ingot_pool::stop() {
  stopping.store(true, std::memory_order_release);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  futexWake(epoch, int(maxThreads));
  for (uint32_t i = 0; i < numWorkers; ++i)
    pthread_join(workers[i], nullptr);
  free(workers);
  workers = nullptr;
  numWorkers = 0;
}

/// In the child only the forking thread exists: forget the workers, and a
/// region that another thread had open.
void ingot_pool::forgetWorkers() {
  free(workers);
  workers = nullptr;
  numWorkers = 0;
  startTried = false;
  taken.store(0);
  state.store(0);
  sleepers.store(0);
}
