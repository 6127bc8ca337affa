//===- RunHeapTest.cpp - memory of dynamic tensors ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"
#include "runtime/core/RunHeap.h"

#include <random>
#include <vector>

using namespace ingot::test;
using namespace ingot::rt;

namespace {

TEST(RunHeap, SecondRunAllocatesNothing) {
  CountingAllocator allocator;
  {
    RunHeap heap(allocator.api);
    int after = 0;
    for (int run = 0; run < 20; ++run) {
      void *a = heap.allocate(100000, 64), *b = heap.allocate(100000, 64);
      EXPECT_NE(a, b);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
      memset(a, 1, 100000);
      memset(b, 2, 100000);
      heap.release(a);
      void *c = heap.allocate(99000, 64), *d = heap.allocate(50000, 4096);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(d) % 4096, 0u);
      memset(d, 3, 50000);
      heap.release(b);
      heap.release(c);
      heap.release(d);
      heap.release(nullptr);
      heap.endRun();
      if (run == 0)
        after = allocator.allocations;
      EXPECT_EQ(allocator.allocations, after);
    }
    // There is one region, as at the end of the first run.
    EXPECT_EQ(allocator.live, 1);
  }
  EXPECT_EQ(allocator.live, 0);
}

// Released memory is used next, and neighbors merge.
TEST(RunHeap, TakesTheLowestPlace) {
  CountingAllocator allocator;
  RunHeap heap(allocator.api);
  void *a = heap.allocate(1000, 64), *b = heap.allocate(2000, 64),
       *c = heap.allocate(3000, 64);
  EXPECT_LT(a, b);
  EXPECT_LT(b, c);
  heap.release(a);
  EXPECT_EQ(heap.allocate(900, 64), a);
  heap.release(a);
  heap.release(b);
  EXPECT_EQ(heap.allocate(3000, 64), a);
  heap.release(c);
  heap.release(a);
  EXPECT_EQ(heap.allocate(50000, 64), a);
  EXPECT_EQ(allocator.allocations, 1);
}

// Pieces of many sizes and alignments never overlap.
TEST(RunHeap, ManyPieces) {
  CountingAllocator allocator;
  {
    RunHeap heap(allocator.api);
    std::mt19937 random(1);
    for (int run = 0; run < 50; ++run) {
      std::vector<std::pair<unsigned char *, size_t>> pieces;
      for (int step = 0; step < 400; ++step) {
        if (pieces.empty() || random() % 5 < 3) {
          size_t bytes = random() % 3 ? random() % 5000 : random() % 200000;
          uint64_t alignment = uint64_t(1) << (random() % 14);
          auto *memory =
              static_cast<unsigned char *>(heap.allocate(bytes, alignment));
          ASSERT_NE(memory, nullptr);
          ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
          memset(memory, int(bytes % 251), bytes);
          pieces.push_back({memory, bytes});
          continue;
        }
        size_t i = random() % pieces.size();
        auto [memory, bytes] = pieces[i];
        for (size_t at = 0; at < bytes; ++at)
          ASSERT_EQ(memory[at], bytes % 251);
        heap.release(memory);
        pieces.erase(pieces.begin() + long(i));
      }
      heap.endRun();
    }
    EXPECT_EQ(allocator.live, 1);
  }
  EXPECT_EQ(allocator.live, 0);
}

TEST(RunHeap, TakesBackWhatAFailedRunLeft) {
  CountingAllocator allocator;
  RunHeap heap(allocator.api);
  for (int run = 0; run < 5; ++run) {
    heap.allocate(5000, 64);
    heap.endRun();
  }
  EXPECT_EQ(allocator.allocations, 1);
}

TEST(RunHeap, IdleMemoryGoesBack) {
  CountingAllocator allocator;
  RunHeap heap(allocator.api);
  heap.release(heap.allocate(1 << 20, 64));
  heap.endRun();
  for (int run = 0; run < 20; ++run) {
    heap.release(heap.allocate(100, 64));
    heap.endRun();
  }
  // A small region replaced it.
  EXPECT_EQ(allocator.live, 1);
  EXPECT_EQ(allocator.allocations, 2);
  heap.releaseAll();
  EXPECT_EQ(allocator.live, 0);
}

// Sizes that vary between runs, within the existing memory, need no allocation.
TEST(RunHeap, ChangingSizes) {
  CountingAllocator allocator;
  RunHeap heap(allocator.api);
  for (int run = 0; run < 40; ++run) {
    heap.release(heap.allocate(run % 2 ? 400000 : 100000, 64));
    heap.endRun();
    if (run > 2)
      EXPECT_LE(allocator.allocations, 3);
  }
}

TEST(RunHeap, Refuses) {
  CountingAllocator allocator;
  RunHeap heap(allocator.api);
  EXPECT_EQ(heap.allocate(UINT64_MAX, 64), nullptr);
  EXPECT_EQ(heap.allocate(UINT64_MAX - 63, 64), nullptr);
  EXPECT_EQ(heap.allocate(64, 96), nullptr);
  allocator.fail = true;
  EXPECT_EQ(heap.allocate(64, 64), nullptr);
}

} // namespace
