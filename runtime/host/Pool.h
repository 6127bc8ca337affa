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

/// One parallel region at a time. Each thread has a part of the tasks of its
/// own, the same of every region as far as there are as many: what it wrote in
/// one region, it reads in the next, out of its own cache. A thread that is
/// done takes from the others.
///
/// What a worker has to know lies in one cache line, which passes from the
/// caller to the worker and back. The line's word says whether the worker is in
/// the region, so that the caller waits only for workers that joined: one that
/// the scheduler has put aside costs nothing.
struct ingot_pool {
  static constexpr uint32_t maxThreads = 1024;
  static constexpr uint32_t defaultSpinUs = 200;

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

  /// What a worker does; its word, which it and the caller also sleep on.
  enum State : uint32_t {
    /// Spins until there is a region.
    idle,
    asleep,
    /// May join a region that is open.
    invited,
    inside,
    /// Inside, and the caller sleeps until it leaves.
    awaited,
    /// Is to end.
    stopped,
  };

  /// A thread's part of a region. Pairs of lines are fetched together.
  struct alignas(128) Part {
    std::atomic<uint32_t> state{idle};
    /// How many parts the region has.
    uint32_t numParts = 0;
    /// The tasks that are left: `next` to `end`. Others take from them, too.
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> end{0};
    // Written only while nobody is inside.
    void (*task)(void *, int64_t) = nullptr;
    void *arg = nullptr;
    ingot_pool *pool = nullptr;
  };

  static void *workerMain(void *part);
  void startWorkers();
  void workOn(const Part &own);
  bool awaitRegion(Part &own);
  void awaitLeave(Part &worker);

  /// Held by the thread whose region this is.
  std::atomic<uint32_t> taken{0};

  /// Only touched by the thread that holds `taken`.
  pthread_t *workers = nullptr;
  /// The caller's part, and those of the workers.
  Part *parts = nullptr;
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
