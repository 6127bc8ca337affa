//===- MemoryTest.cpp - the default allocator -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Memory.h"

#include <gtest/gtest.h>
#include <string.h>

using namespace ingot::rt;

namespace {

constexpr uint64_t hugePage = 2 << 20;

uint64_t misalignment(void *memory, uint64_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) % alignment;
}

TEST(Memory, LargeBlocksStartAtHugePages) {
  ingot_allocator allocator = defaultAllocator();
  for (uint64_t bytes : {hugePage / 2, hugePage, 2 * hugePage + 1}) {
    void *memory = allocator.allocate(allocator.user, bytes, 64);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(misalignment(memory, hugePage), 0u);
    memset(memory, 1, bytes);
    allocator.release(allocator.user, memory);
  }
}

TEST(Memory, SmallBlocksAreAligned) {
  ingot_allocator allocator = defaultAllocator();
  for (uint64_t bytes : {0, 1, 1000})
    for (uint64_t alignment : {1, 64, 4096}) {
      void *memory = allocator.allocate(allocator.user, bytes, alignment);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(misalignment(memory, alignment), 0u);
      memset(memory, 1, bytes);
      allocator.release(allocator.user, memory);
    }
}

TEST(Memory, MoreThanThereIsIsRefused) {
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "its allocator ends the process";
#endif
  ingot_allocator allocator = defaultAllocator();
  for (uint64_t bytes : {UINT64_MAX, UINT64_MAX - hugePage, UINT64_MAX / 2})
    EXPECT_EQ(allocator.allocate(allocator.user, bytes, 64), nullptr);
}

} // namespace
