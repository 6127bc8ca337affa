//===- PixelTilesTest.cpp - windows over a row of pixels ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/PixelTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <gtest/gtest.h>

using namespace ingot::cpu;

namespace {

struct Row {
  int64_t src, kernel, stride, dilation, low, high;

  int64_t dst() const {
    int64_t room = src + low + high - (kernel - 1) * dilation - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
  bool isWithin(int64_t pixel, int64_t tap) const {
    int64_t at = pixel * stride - low + tap * dilation;
    return at >= 0 && at < src;
  }
};

/// Checks that every pixel is in one tile, tiles have at most `most` pixels,
/// and the taps are those within src.
void check(const Row &row, int64_t most) {
  llvm::SmallVector<int64_t> strides = {row.stride}, pads = {row.low, row.high},
                             dilations = {row.dilation}, kernel = {row.kernel};
  WindowTiling window{strides, pads, dilations, kernel, {row.src}, {row.dst()}};
  int64_t next = 0;
  for (const PixelTile &tile : window.splitRow(most)) {
    ASSERT_EQ(tile.first, next);
    ASSERT_GE(tile.size, 1);
    ASSERT_LE(tile.size, most);
    ASSERT_GE(tile.count, 1);
    ASSERT_EQ(int64_t(tile.taps.size()), tile.size);
    bool isWhole = true;
    for (int64_t i = 0; i < tile.count; ++i)
      for (int64_t p = 0; p < tile.size; ++p, ++next)
        for (int64_t tap = 0; tap < row.kernel; ++tap) {
          ASSERT_EQ(tile.hasTap(p, tap), row.isWithin(next, tap))
              << "src " << row.src << " kernel " << row.kernel << " stride "
              << row.stride << " dilation " << row.dilation << " pads "
              << row.low << ", " << row.high << ": pixel " << next << " tap "
              << tap;
          isWhole &= row.isWithin(next, tap);
        }
    ASSERT_EQ(tile.isWhole(), isWhole);
  }
  ASSERT_EQ(next, row.dst());
}

TEST(PixelTiles, CoverEachPixelOnce) {
  for (int64_t src : {1, 2, 3, 5, 8, 14, 15, 28, 40})
    for (int64_t kernel = 1; kernel <= 7; ++kernel)
      for (int64_t stride = 1; stride <= 4; ++stride)
        for (int64_t dilation = 1; dilation <= 3; ++dilation)
          for (int64_t low : {0, 1, 3, 7, 20})
            for (int64_t high : {0, 2, 5}) {
              Row row{src, kernel, stride, dilation, low, high};
              if (row.dst() == 0)
                continue;
              for (int64_t most : {1, 4, 6, 8, 14}) {
                check(row, most);
                if (HasFatalFailure())
                  return;
              }
            }
}

// 3x3 taps at 56 pixels: 14 pixels at each border, and two equal tiles in
// between.
TEST(PixelTiles, InnerTilesShareCode) {
  llvm::SmallVector<int64_t> one = {1}, pads = {1, 1}, kernel = {3};
  WindowTiling window{one, pads, one, kernel, {56}, {56}};
  llvm::SmallVector<PixelTile> tiles = window.splitRow(14);
  ASSERT_EQ(tiles.size(), 3u);
  EXPECT_EQ(tiles[0].count, 1);
  EXPECT_FALSE(tiles[0].isWhole());
  EXPECT_EQ(tiles[1].count, 2);
  EXPECT_TRUE(tiles[1].isWhole());
  EXPECT_EQ(tiles[2].count, 1);
  EXPECT_FALSE(tiles[2].isWhole());
}

/// Taps of an outer dimension are index arithmetic. For a constant origin, it
/// must fold to the brute-force range.
TEST(PixelTiles, OuterTapsWithin) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect>();
  for (int64_t src : {1, 3, 8, 13})
    for (int64_t kernel : {1, 2, 3, 5, 7})
      for (int64_t stride : {1, 2, 3})
        for (int64_t dilation : {1, 2, 3})
          for (int64_t low : {0, 1, 4, 9})
            for (int64_t high : {0, 3}) {
              Row row{src, kernel, stride, dilation, low, high};
              if (row.dst() == 0)
                continue;
              llvm::SmallVector<int64_t> strides = {stride, 1},
                                         pads = {low, 0, high, 0},
                                         dilations = {dilation, 1},
                                         kernels = {kernel, 1};
              WindowTiling window{strides, pads,     dilations,
                                  kernels, {src, 1}, {row.dst(), 1}};
              for (int64_t pixel = 0; pixel < row.dst(); ++pixel) {
                mlir::OpBuilder builder(&context);
                mlir::Block block;
                builder.setInsertionPointToEnd(&block);
                IndexBuilder b{builder, builder.getUnknownLoc()};
                auto [begin, end] =
                    window.tapsWithin(b, 0, Index(pixel * stride - low));
                ASSERT_FALSE(begin.value || end.value);
                for (int64_t tap = 0; tap < kernel; ++tap)
                  ASSERT_EQ(begin.constant <= tap && tap < end.constant,
                            row.isWithin(pixel, tap))
                      << "src " << src << " kernel " << kernel << " stride "
                      << stride << " dilation " << dilation << " pads " << low
                      << ", " << high << ": pixel " << pixel << " tap " << tap;
              }
            }
}

} // namespace
