//===- PoolRegistry.cpp - all pools of the process, and their C API -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/host/PoolRegistry.h"

#include "runtime/core/Error.h"
#include "runtime/core/Memory.h"
#include "runtime/host/CpuCount.h"

using namespace ingot::rt;

//===----------------------------------------------------------------------===//
// The list of pools
//===----------------------------------------------------------------------===//

static pthread_mutex_t registryLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forkOnce = PTHREAD_ONCE_INIT;
static ingot_pool *allPools = nullptr;
static ingot_pool *sharedPool = nullptr;

void PoolRegistry::add(ingot_pool *pool) {
  pool->nextPool = allPools;
  if (allPools)
    allPools->previousPool = pool;
  allPools = pool;
}

void PoolRegistry::remove(ingot_pool *pool) {
  (pool->previousPool ? pool->previousPool->nextPool : allPools) =
      pool->nextPool;
  if (pool->nextPool)
    pool->nextPool->previousPool = pool->previousPool;
  if (pool == sharedPool)
    sharedPool = nullptr;
}

void PoolRegistry::afterForkInChild() {
  for (ingot_pool *pool = allPools; pool; pool = pool->nextPool)
    pool->forgetWorkers();
  pthread_mutex_unlock(&registryLock);
}

static void beforeFork() { pthread_mutex_lock(&registryLock); }
static void afterForkInParent() { pthread_mutex_unlock(&registryLock); }

static void registerForkHandlers() {
  pthread_atfork(beforeFork, afterForkInParent, PoolRegistry::afterForkInChild);
}

/// Creates a pool. The registry must be locked.
static ingot_pool *createPool(uint32_t numThreads, uint32_t spinUs) {
  auto *pool = create<ingot_pool>(numThreads, spinUs);
  if (pool)
    PoolRegistry::add(pool);
  return pool;
}

ingot_pool *ingot::rt::retainSharedPool() {
  pthread_once(&forkOnce, registerForkHandlers);
  pthread_mutex_lock(&registryLock);
  if (sharedPool) {
    retainPool(sharedPool);
  } else {
    uint32_t cpus = countCpus();
    if (cpus > ingot_pool::maxThreads)
      cpus = ingot_pool::maxThreads;
    sharedPool = createPool(cpus, cpus > 1 ? ingot_pool::defaultSpinUs : 0);
  }
  ingot_pool *pool = sharedPool;
  pthread_mutex_unlock(&registryLock);
  return pool;
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

ingot_status ingot_pool_create(const ingot_pool_options *given,
                               ingot_pool **pool, ingot_error *error) {
  ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
  if (!pool)
    return fail(error, INGOT_INVALID_ARGUMENT, "pool is null");
  if (ingot_status status =
          readOptions(given, options, "ingot_pool_options", error))
    return status;
  if (options.reserved0 || anyNonZero(options.reserved))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_pool_options: reserved fields must be zero");
  if (options.num_threads > ingot_pool::maxThreads)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "a pool of %u threads was asked for, but %u is the most",
                options.num_threads, ingot_pool::maxThreads);
  uint32_t cpus = countCpus();
  uint32_t threads = options.num_threads ? options.num_threads : cpus;
  if (threads > ingot_pool::maxThreads)
    threads = ingot_pool::maxThreads;
  uint32_t spinUs = options.spin_us  ? options.spin_us
                    : threads > cpus ? 0
                                     : ingot_pool::defaultSpinUs;
  pthread_once(&forkOnce, registerForkHandlers);
  pthread_mutex_lock(&registryLock);
  ingot_pool *created = createPool(threads, spinUs);
  pthread_mutex_unlock(&registryLock);
  if (!created)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a thread pool");
  *pool = created;
  return INGOT_OK;
}

void ingot_pool_release(ingot_pool *pool) {
  if (!pool)
    return;
  // Take the lock, so that no other thread gets the shared pool while the last
  // reference to the pool is released.
  pthread_mutex_lock(&registryLock);
  bool last = pool->references.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (last)
    PoolRegistry::remove(pool);
  pthread_mutex_unlock(&registryLock);
  if (!last)
    return;
  pool->stop();
  destroy(pool);
}

uint32_t ingot_pool_thread_count(const ingot_pool *pool) {
  return pool ? pool->numThreads : 0;
}
