//===- ArenaPlanTest.cpp - offsets of buffers in one arena ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ArenaPlan.h"

#include "mlir/Support/LogicalResult.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace ingot;

namespace {

constexpr int64_t alignment = 64;

/// Returns true if two buffers are live at the same time and share a byte. Does
/// not use verifyOffsets, which it also checks.
bool overlaps(const ArenaBuffer &a, const ArenaBuffer &b) {
  bool together = a.first <= b.last && b.first <= a.last;
  return together && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

void check(std::vector<ArenaBuffer> buffers) {
  int64_t arena = assignOffsets(buffers);
  EXPECT_TRUE(mlir::succeeded(verifyOffsets(buffers)));
  EXPECT_GE(arena, lowerBound(buffers));
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(buffers[i].offset % alignment, 0);
    EXPECT_GE(buffers[i].offset, 0);
    EXPECT_LE(buffers[i].offset + buffers[i].bytes, arena);
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(overlaps(buffers[i], buffers[j])) << i << " and " << j;
  }
}

TEST(ArenaPlan, NothingToPlace) { EXPECT_EQ(assignOffsets({}), 0); }

TEST(ArenaPlan, ChainReusesTwoPlaces) {
  std::vector<ArenaBuffer> chain;
  for (int64_t i = 0; i < 50; ++i)
    chain.push_back({1024, i, i + 1});
  EXPECT_EQ(assignOffsets(chain), 2048);
}

TEST(ArenaPlan, ResidualBlocksReachTheBound) {
  std::vector<ArenaBuffer> buffers;
  for (int64_t block = 0; block < 8; ++block) {
    int64_t at = 4 * block;
    buffers.push_back({4096, at, at + 4});
    buffers.push_back({1024, at + 1, at + 2});
    buffers.push_back({1024, at + 2, at + 3});
  }
  int64_t arena = assignOffsets(buffers);
  EXPECT_LE(arena, lowerBound(buffers) * 11 / 10);
}

/// Buffers with short lives in a long program, and buffers that are all live at
/// the same time. Comparing all pairs would be too slow.
TEST(ArenaPlan, ManyBuffersAreFast) {
  constexpr int64_t count = 500'000;
  std::vector<ArenaBuffer> chain, crowd;
  for (int64_t i = 0; i < count; ++i) {
    chain.push_back({64 * (1 + i % 5), i, i + 1 + i % 7});
    crowd.push_back({64 * (1 + i % 5), i, count + i % 3});
  }
  int64_t arena = assignOffsets(chain);
  EXPECT_TRUE(mlir::succeeded(verifyOffsets(chain)));
  EXPECT_LE(arena, lowerBound(chain) * 3 / 2);
  EXPECT_EQ(assignOffsets(crowd), lowerBound(crowd));
  EXPECT_TRUE(mlir::succeeded(verifyOffsets(crowd)));
}

TEST(ArenaPlan, OverlapIsFound) {
  std::vector<ArenaBuffer> buffers{{128, 0, 3, 0}, {128, 2, 5, 64}};
  EXPECT_TRUE(mlir::failed(verifyOffsets(buffers)));
  buffers[1].first = 4;
  EXPECT_TRUE(mlir::succeeded(verifyOffsets(buffers)));
}

TEST(ArenaPlan, RandomLifetimes) {
  std::mt19937 random(0);
  for (int round = 0; round < 300; ++round) {
    std::vector<ArenaBuffer> buffers;
    int count = 1 + random() % 60;
    for (int i = 0; i < count; ++i) {
      int64_t first = random() % 40;
      buffers.push_back({int64_t(1 + random() % 5000), first,
                         first + int64_t(random() % 10)});
    }
    check(buffers);
  }
}

} // namespace
