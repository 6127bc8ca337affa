//===- XxHash64Test.cpp - XXH64 -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/XxHash64.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace ingot::rt;

namespace {

uint64_t hashOf(const std::string &data, size_t piece) {
  XxHash64 hash;
  for (size_t at = 0; at < data.size(); at += piece)
    hash.update(data.data() + at, std::min(piece, data.size() - at));
  return hash.digest();
}

/// Returns the buffer that xxHash's own tests use.
std::string sanityBuffer(size_t size) {
  std::string data;
  uint32_t generator = 2654435761u;
  for (size_t i = 0; i < size; ++i) {
    data += char(generator >> 24);
    generator *= generator;
  }
  return data;
}

TEST(XxHash64, PublishedVectors) {
  EXPECT_EQ(hashOf("", 1), 0xef46db3751d8e999u);
  EXPECT_EQ(hashOf("abc", 10), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hashOf(sanityBuffer(1), 10), 0x4fce394cc88952d8u);
  EXPECT_EQ(hashOf(sanityBuffer(14), 100), 0xcffa8db881bc3a3du);
  EXPECT_EQ(hashOf(sanityBuffer(101), 1000), 0x0eab543384f878adu);
}

TEST(XxHash64, PiecesOfEverySize) {
  std::string data;
  for (int i = 0; i < 200; ++i) {
    uint64_t whole = hashOf(data, 1000);
    for (size_t piece : {1, 3, 8, 31, 32, 33, 64, 150})
      ASSERT_EQ(hashOf(data, piece), whole) << i << " in pieces of " << piece;
    data += char(i * 37);
  }
}

} // namespace
