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

/// A thread pool that runs one parallel region at a time. Each thread has its
/// own part of the tasks. Regions of equal size have equal parts, so a thread
/// often reads from its own cache what it wrote in the previous region. A
/// thread that has finished its part takes tasks from other threads.
///
/// The data for a worker is in one cache line, which moves from the caller to
/// the worker and back. Its state shows if the worker is in the region. So the
/// caller waits only for workers that have joined, not for workers that the
/// scheduler has suspended.
struct ingot_pool {
  static constexpr uint32_t maxThreads = 1024;
  static constexpr uint32_t defaultSpinUs = 200;

  ingot_pool(uint32_t numThreads, uint32_t spinUs)
      : numThreads(numThreads), spinUs(spinUs) {}

  /// Calls task(arg, i) for each 0 <= i < count on at most `threads` threads.
  void parallelFor(uint32_t threads, void (*task)(void *, int64_t), void *arg,
                   int64_t count);

  /// Ends the workers. No thread may be in parallelFor.
  void stop();

  /// Forgets the workers and any open region in a forked child, because only
  /// the thread that called fork exists there. Workers start again when needed.
  void forgetWorkers();

  const uint32_t numThreads;
  const uint32_t spinUs;
  std::atomic<uint32_t> references{1};

private:
  friend struct PoolRegistry;

  /// State of a worker. The worker sleeps on it, and so does the caller.
  enum State : uint32_t {
    /// Spins until there is a region.
    idle,
    asleep,
    /// May join an open region.
    invited,
    inside,
    /// Inside of the region, while the caller sleeps until the worker leaves.
    awaited,
    /// Must end.
    stopped,
  };

  /// A thread's part of a region. It is aligned to two cache lines, because
  /// CPUs fetch lines in pairs.
  struct alignas(128) Part {
    std::atomic<uint32_t> state{idle};
    /// Number of parts of the region.
    uint32_t numParts = 0;
    /// Remaining tasks: `next` to `end`. Other threads take from them, too.
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> end{0};
    // Written only while no worker is in the region.
    void (*task)(void *, int64_t) = nullptr;
    void *arg = nullptr;
    ingot_pool *pool = nullptr;
  };

  static void *workerMain(void *part);
  void startWorkers();
  void workOn(const Part &own);
  bool awaitRegion(Part &own);
  void awaitLeave(Part &worker);

  /// Nonzero while a thread has an open region.
  std::atomic<uint32_t> taken{0};

  /// Only the thread that holds `taken` accesses the following members.
  pthread_t *workers = nullptr;
  /// Parts of the caller and the workers.
  Part *parts = nullptr;
  uint32_t numWorkers = 0;
  bool startTried = false;

  // Links of the list of all pools, for fork.
  ingot_pool *previousPool = nullptr;
  ingot_pool *nextPool = nullptr;
};

namespace ingot::rt {

/// Returns true if this process can start threads. A program that links a model
/// without libingot may have no threads library.
#ifdef INGOT_WEAK_THREADS
inline bool hasThreads() { return &pthread_create != nullptr; }
#else
constexpr bool hasThreads() { return true; }
#endif

/// Returns a reference to the process's shared pool, which is created at first
/// use. Returns null if memory is exhausted.
ingot_pool *retainSharedPool();

inline ingot_pool *retainPool(ingot_pool *pool) {
  pool->references.fetch_add(1, std::memory_order_relaxed);
  return pool;
}

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_POOL_H
