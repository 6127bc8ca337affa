//===- Pool.h - thread pool -----------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_HOST_POOL_H
#define INGOT_RUNTIME_HOST_POOL_H

#include "ingot/ingot.h"

#include <atomic>
#include <pthread.h>

/// One parallel region at a time. The state word says whether a region is open
/// and how many workers are in it, so that the caller waits only for workers
/// that joined: one that the scheduler has put aside costs nothing.
struct ingot_pool {
  static constexpr uint32_t maxThreads = 1024;
  static constexpr uint32_t defaultSpinUs = 50;

  ingot_pool(uint32_t numThreads, uint32_t spinUs)
      : numThreads(numThreads), spinUs(spinUs) {}

  /// Calls task(arg, i) for each 0 <= i < count on at most `threads` threads.
  void parallelFor(uint32_t threads, void (*task)(void *, int64_t), void *arg,
                   int64_t count);

  /// Ends the workers. Nobody may be in parallelFor.
  void stop();

  /// In a forked child, where only the forking thread exists: forgets the
  /// workers, which start again when needed, and a region that another thread
  /// had open.
  void forgetWorkers();

  const uint32_t numThreads;
  const uint32_t spinUs;
  std::atomic<uint32_t> references{1};

private:
  friend struct PoolRegistry;

  // State word: open, waiting (the caller sleeps), joins left, workers inside.
  // The last is the low half, which the caller sleeps on.
  static constexpr uint64_t openBit = uint64_t(1) << 63;
  static constexpr uint64_t waitingBit = uint64_t(1) << 62;
  static constexpr uint64_t oneJoin = uint64_t(1) << 32;
  static constexpr uint64_t joinsMask = (oneJoin << 16) - oneJoin;
  static constexpr uint64_t insideMask = oneJoin - 1;

  static void *workerMain(void *pool);
  void startWorkers();
  bool join();
  void leave();
  void workOn();
  uint32_t awaitEpoch(uint32_t seen);

  /// Held by the thread whose region this is.
  std::atomic<uint32_t> taken{0};
  /// Counts regions; workers sleep on it.
  alignas(64) std::atomic<uint32_t> epoch{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<uint64_t> state{0};
  alignas(64) std::atomic<int64_t> next{0};
  // Written only while the region is closed and nobody is inside.
  void (*task)(void *, int64_t) = nullptr;
  void *arg = nullptr;
  int64_t count = 0;

  /// Only touched by the thread that holds `taken`.
  pthread_t *workers = nullptr;
  uint32_t numWorkers = 0;
  bool startTried = false;

  // Neighbours in the list of all pools, for fork.
  ingot_pool *previousPool = nullptr;
  ingot_pool *nextPool = nullptr;
};

namespace ingot::rt {

/// Whether this process can start threads: a model that is linked without
/// libingot may stand in one that has no threads library.
#ifdef INGOT_WEAK_THREADS
inline bool hasThreads() { return &pthread_create != nullptr; }
#else
constexpr bool hasThreads() { return true; }
#endif

/// A reference to the process's shared pool, created at first use; null when
/// memory is out.
ingot_pool *retainSharedPool();

inline ingot_pool *retainPool(ingot_pool *pool) {
  pool->references.fetch_add(1, std::memory_order_relaxed);
  return pool;
}

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_POOL_H
