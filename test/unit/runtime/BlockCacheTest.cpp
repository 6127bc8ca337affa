//===- BlockCacheTest.cpp - recycled memory -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/core/BlockCache.h"

using namespace ingot::test;
using namespace ingot::rt;

namespace {

TEST(BlockCache, Classes) {
  EXPECT_EQ(BlockCache::roundToClass(0), 256u);
  EXPECT_EQ(BlockCache::roundToClass(256), 256u);
  EXPECT_EQ(BlockCache::roundToClass(257), 320u);
  EXPECT_EQ(BlockCache::roundToClass(321), 384u);
  EXPECT_EQ(BlockCache::roundToClass(1024), 1024u);
  EXPECT_EQ(BlockCache::roundToClass(1025), 1280u);
  for (uint64_t bytes = 1; bytes < 100000; bytes += 37) {
    uint64_t size = BlockCache::roundToClass(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, bytes < 256 ? 256 : bytes + bytes / 4);
    EXPECT_EQ(BlockCache::roundToClass(size), size);
  }
}

TEST(BlockCache, SecondRunAllocatesNothing) {
  CountingAllocator allocator;
  {
    BlockCache cache(allocator.api);
    int after = 0;
    for (int run = 0; run < 20; ++run) {
      void *a = cache.allocate(1000, 64), *b = cache.allocate(1000, 64);
      EXPECT_NE(a, b);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
      memset(a, 1, 1000);
      memset(b, 2, 1000);
      cache.release(a);
      void *c = cache.allocate(990, 64), *d = cache.allocate(50000, 4096);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(d) % 4096, 0u);
      memset(d, 3, 50000);
      cache.release(b);
      cache.release(c);
      cache.release(d);
      cache.release(nullptr);
      cache.endRun();
      if (run == 0)
        after = allocator.allocations;
      EXPECT_EQ(allocator.allocations, after);
    }
    EXPECT_EQ(after, 3);
  }
  EXPECT_EQ(allocator.live, 0);
}

TEST(BlockCache, TakesBackWhatAFailedRunLeft) {
  CountingAllocator allocator;
  BlockCache cache(allocator.api);
  for (int run = 0; run < 5; ++run) {
    cache.allocate(5000, 64);
    cache.endRun();
  }
  EXPECT_EQ(allocator.allocations, 1);
}

TEST(BlockCache, IdleBlocksGoBack) {
  CountingAllocator allocator;
  BlockCache cache(allocator.api);
  cache.release(cache.allocate(1 << 20, 64));
  cache.endRun();
  for (int run = 0; run < 20; ++run) {
    cache.release(cache.allocate(100, 64));
    cache.endRun();
  }
  EXPECT_EQ(allocator.live, 1);
  cache.releaseAll();
  EXPECT_EQ(allocator.live, 0);
}

TEST(BlockCache, Refuses) {
  CountingAllocator allocator;
  BlockCache cache(allocator.api);
  EXPECT_EQ(cache.allocate(UINT64_MAX, 64), nullptr);
  EXPECT_EQ(cache.allocate(UINT64_MAX - 63, 64), nullptr);
  EXPECT_EQ(cache.allocate(64, 96), nullptr);
  allocator.fail = true;
  EXPECT_EQ(cache.allocate(64, 64), nullptr);
}

} // namespace
