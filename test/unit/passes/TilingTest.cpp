//===- TilingTest.cpp - register tiles and grids of tasks -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/Tiling.h"

#include "dialects/ingot/IngotDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <gtest/gtest.h>

using namespace ingot;
using namespace ingot::cpu;
using llvm::divideCeil;
using mlir::ShapedType;

namespace {

TargetInfo targetOf(llvm::StringRef level) {
  const CpuLevel *found = findLevel(level);
  return TargetInfo(found ? found->features : 0, TargetNumbers());
}

TEST(Tiling, TargetOfLevel) {
  for (const char *level : {"x86-64-v4", "cascadelake", "znver4",
                            "sapphirerapids"}) {
    TargetInfo target = targetOf(level);
    EXPECT_EQ(target.lanes, 16) << level;
    EXPECT_EQ(target.numRegisters, 32) << level;
    EXPECT_TRUE(target.hasFMA) << level;
  }
  TargetInfo usual = targetOf("x86-64-v3");
  EXPECT_EQ(usual.lanes, 8);
  EXPECT_EQ(usual.numRegisters, 16);
  EXPECT_TRUE(usual.hasFMA);
  EXPECT_FALSE(usual.hasVNNI);
  TargetInfo dots = targetOf("alderlake");
  EXPECT_EQ(dots.lanes, 8);
  EXPECT_EQ(dots.numRegisters, 16);
  EXPECT_TRUE(dots.hasFMA);
  EXPECT_TRUE(dots.hasVNNI);
  EXPECT_FALSE(dots.hasBF16);
  TargetInfo oldest = targetOf("x86-64-v2");
  EXPECT_EQ(oldest.lanes, 4);
  EXPECT_EQ(oldest.numRegisters, 16);
  EXPECT_FALSE(oldest.hasFMA);
}

// Without a target, a module is for x86-64-v3.
TEST(Tiling, TargetOfModule) {
  mlir::MLIRContext context;
  context.loadDialect<ingot::IngotDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  EXPECT_EQ(TargetInfo::of(*module).lanes, 8);
  TargetNumbers numbers;
  numbers.l2 = 2 << 20;
  IngotDialect::TargetAttrHelper(&context).setAttr(
      *module, TargetAttr::get(&context, "x86-64-v4", numbers));
  EXPECT_EQ(TargetInfo::of(*module).lanes, 16);
  EXPECT_EQ(TargetInfo::of(*module).l2, 2 << 20);
  EXPECT_EQ(TargetInfo::of(*module).l1, 32 << 10);
}

TEST(Tiling, TargetNumbers) {
  TargetNumbers numbers;
  EXPECT_EQ(numbers.parse("l1=48K"), std::nullopt);
  EXPECT_EQ(numbers.parse("fma_ports=1"), std::nullopt);
  EXPECT_EQ(numbers.l1, 48 << 10);
  EXPECT_EQ(numbers.fma_ports, 1);
  EXPECT_EQ(llvm::join(numbers.texts(), ","), "l1=49152,fma_ports=1");
  for (const char *text :
       {"l1", "l1=", "l1=x", "l1=1K", "L1=48K", "l3=1M", "line=96", "l2=-4K",
        "fma_ports=0", "l1=99999999999M"}) {
    TargetNumbers before = numbers;
    EXPECT_NE(numbers.parse(text), std::nullopt) << text;
    EXPECT_TRUE(numbers == before) << text;
  }
}

// The target determines the smallest useful task.
TEST(Tiling, TaskOfTarget) {
  TargetNumbers numbers;
  numbers.task_flops = 100'000'000;
  TargetInfo slow(findLevel("x86-64-v3")->features, numbers);
  Work work{64, 1, 1'000'000, 1, 100'000, 1'000};
  EXPECT_GT(chooseGrid(slow, work).rowsPerTask,
            chooseGrid(targetOf("x86-64-v3"), work).rowsPerTask);
}

// The target determines the largest number of tasks, and which weights are
// prefetched.
TEST(Tiling, GridOfTarget) {
  Work work{64, 1, 1'000'000'000, 1, 100'000, 300'000};
  TargetNumbers numbers;
  numbers.most_tasks = 4;
  numbers.l2 = 2 << 20;
  TargetInfo target(findLevel("x86-64-v3")->features, numbers);
  EXPECT_EQ(chooseGrid(target, work).rowsPerTask, 16);
  EXPECT_EQ(chooseGrid(targetOf("x86-64-v3"), work).rowsPerTask, 2);
  EXPECT_FALSE(chooseGrid(target, work).prefetch);
  EXPECT_TRUE(chooseGrid(targetOf("x86-64-v3"), work).prefetch);
}

// Accumulators, a vector of weights for each column and one element of the
// input must stay in registers. Tiles divide panels.
TEST(Tiling, TilesFitRegisters) {
  for (const char *level :
       {"x86-64-v2", "x86-64-v3", "alderlake", "x86-64-v4"}) {
    TargetInfo target = targetOf(level);
    for (Product product : {Product::f32, Product::bf16Dot, Product::bf16Wide,
                            Product::int8Dot, Product::int8Wide,
                            Product::int8Pairs})
      for (int64_t panel : {16, 32, 64}) {
        RegisterTile tile = chooseTile(target, product, panel);
        EXPECT_EQ(tile.product, product);
        EXPECT_GE(tile.rows, 1);
        EXPECT_GE(tile.vectors, 1);
        // Widened weights need registers in addition to the original weights.
        bool isWide = product == Product::bf16Wide ||
                      product == Product::int8Wide ||
                      product == Product::int8Pairs;
        EXPECT_LE(tile.rows * tile.vectors + tile.vectors * (isWide ? 2 : 1) +
                      1,
                  target.numRegisters);
        EXPECT_EQ(panel % (tile.vectors * target.lanes), 0) << level << panel;
      }
  }
}

// Each row of the table is a product of some level, has a unique name, and its
// usual tile stays in registers.
TEST(Tiling, RowsOfProducts) {
  for (const ProductInfo &info : getProducts()) {
    EXPECT_EQ(&infoOf(info.product), &info);
    EXPECT_EQ(symbolizeProduct(info.mnemonic), info.product);
    bool isSupported = false;
    for (const CpuLevel &level : getLevels()) {
      TargetInfo target = targetOf(level.name);
      isSupported |= info.isSupported(target);
      if (info.usesTiles())
        continue;
      for (int64_t panel : {16, 32, 64})
        EXPECT_LE(registersOf(chooseTile(target, info.product, panel)),
                  target.numRegisters)
            << info.mnemonic.str() << " " << level.name.str();
    }
    EXPECT_TRUE(isSupported) << info.mnemonic.str();
  }
  EXPECT_EQ(symbolizeProduct("f64"), std::nullopt);
}

// The product uses the instruction if the level has it.
TEST(Tiling, ProductOfTypeAndLevel) {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context),
             bf16 = mlir::BFloat16Type::get(&context),
             f16 = mlir::Float16Type::get(&context),
             i8 = mlir::IntegerType::get(&context, 8);
  for (const char *level :
       {"x86-64-v2", "x86-64-v3", "alderlake", "x86-64-v4", "cascadelake",
        "znver4", "avx512fp16", "sapphirerapids"}) {
    TargetInfo target = targetOf(level);
    llvm::StringRef name = level;
    bool hasBF16 = name == "znver4" || name == "avx512fp16" ||
                   name == "sapphirerapids";
    bool hasVNNI = hasBF16 || name == "cascadelake" || name == "alderlake";
    EXPECT_EQ(productFor(target, f32), Product::f32) << level;
    EXPECT_EQ(productFor(target, f16), Product::f16Wide) << level;
    EXPECT_EQ(productFor(target, f16, /*group=*/2), Product::f16Dot) << level;
    EXPECT_EQ(productFor(target, bf16),
              name == "znver4" ? Product::bf16Dot : Product::bf16Wide)
        << level;
    EXPECT_EQ(productFor(target, i8),
              hasVNNI ? Product::int8Dot : Product::int8Wide)
        << level;
  }
}

// AMX is used if the level has it and there is enough work.
TEST(Tiling, TilesForShape) {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context),
             bf16 = mlir::BFloat16Type::get(&context),
             i8 = mlir::IntegerType::get(&context, 8);
  TargetInfo target = targetOf("sapphirerapids");
  auto product = [&](ProductShape shape) {
    return chooseTile(target, shape).product;
  };
  EXPECT_EQ(product({f32, 32, 64, 64, 1}), Product::f32);
  EXPECT_EQ(product({bf16, 32, 64, 64, 1}), Product::bf16Tiles);
  EXPECT_EQ(product({i8, 32, 64, 64, 1}), Product::int8Tiles);
  EXPECT_EQ(product({bf16, 32, ShapedType::kDynamic, 64, 1}),
            Product::bf16Tiles);
  EXPECT_EQ(product({bf16, 32, 3, 64, 1}), Product::bf16Wide);
  EXPECT_EQ(product({bf16, 32, 4, 64, 1}), Product::bf16Tiles);
  TargetNumbers numbers;
  numbers.amx_rows = 9;
  target = TargetInfo(findLevel("sapphirerapids")->features, numbers);
  EXPECT_EQ(product({bf16, 32, 8, 64, 1}), Product::bf16Wide);
  EXPECT_EQ(product({bf16, 32, 9, 64, 1}), Product::bf16Tiles);
  target = targetOf("sapphirerapids");
  EXPECT_EQ(product({bf16, 32, 64, 6, 1}), Product::bf16Wide);
  EXPECT_EQ(product({bf16, 32, 64, 16, 9}), Product::bf16Tiles);
  EXPECT_EQ(product({i8, 32, 64, 16, 1}), Product::int8Dot);
  for (const char *level : {"cascadelake", "znver4"})
    EXPECT_FALSE(usesTiles(
        chooseTile(targetOf(level), {bf16, 32, 64, 64, 1}).product));
}

// A register tile is one or two AMX tiles, which cover its rows.
TEST(Tiling, RowsOfAmxTiles) {
  mlir::MLIRContext context;
  mlir::Type bf16 = mlir::BFloat16Type::get(&context);
  TargetInfo target = targetOf("sapphirerapids");
  for (int64_t rows = 4; rows <= 300; ++rows) {
    RegisterTile tile = chooseTile(target, {bf16, 32, rows, 64, 1});
    ASSERT_LE(tile.amxRows, 16);
    ASSERT_GE(tile.rows, tile.amxRows);
    ASSERT_LE(tile.rows, 2 * tile.amxRows);
    ASSERT_LE(tile.amxRows, rows);
    // A row of pixels may end with a tile that has one row less.
    if (tile.rows > tile.amxRows) {
      ASSERT_GE(tile.rows - 1, tile.amxRows);
    } else {
      ASSERT_EQ(tile.rows, rows);
    }
  }
  RegisterTile tile = chooseTile(target, {bf16, 32, 56, 64, 1});
  EXPECT_EQ(tile.rows, 28);
  EXPECT_EQ(tile.amxRows, 14);
}

// Steps have one size, count every element once and read only weights.
TEST(Tiling, StepsOfAmxTiles) {
  for (int64_t group : {2, 4})
    for (int64_t depth = 1; depth <= 600; ++depth) {
      AmxSteps steps(depth, group);
      int64_t groups = divideCeil(depth, group);
      ASSERT_GE(steps.groups, 1);
      ASSERT_LE(steps.groups, 16);
      int64_t whole = steps.whole * steps.groups;
      ASSERT_LE(whole * group, depth);
      // The number of steps is minimal.
      ASSERT_EQ(steps.whole + steps.last.has_value(),
                int64_t(divideCeil(groups, 16)));
      if (steps.last) {
        ASSERT_GE(*steps.last, 0);
        ASSERT_LE(*steps.last, whole);
        ASSERT_EQ(*steps.last + steps.groups, groups);
      } else {
        ASSERT_EQ(whole * group, depth);
      }
    }
}

TEST(Tiling, EvenTile) {
  EXPECT_EQ(evenTile(5, 14), 5);
  EXPECT_EQ(evenTile(14, 14), 14);
  EXPECT_EQ(evenTile(15, 14), 8);
  EXPECT_EQ(evenTile(28, 14), 14);
  EXPECT_EQ(evenTile(49, 14), 13);
  for (int64_t most = 1; most <= 16; ++most)
    for (int64_t rows = 1; rows <= 300; ++rows) {
      int64_t tile = evenTile(rows, most);
      ASSERT_GE(tile, 1);
      ASSERT_LE(tile, most);
      // There are no more tiles than with the largest tile, and no tile is much
      // smaller than the others.
      ASSERT_EQ(divideCeil(rows, tile), divideCeil(rows, most))
          << rows << " by " << most;
      ASSERT_LT(tile * int64_t(divideCeil(rows, tile)) - rows,
                int64_t(divideCeil(rows, tile)));
    }
}

struct Split {
  int64_t tasks, flopsOfTask;
};

/// Returns the tasks of a grid, after checking that they cover everything. The
/// level does not matter, because grids depend only on its caches.
const TargetInfo usual = targetOf("x86-64-v3");

Split check(const Work &work) {
  Grid grid = chooseGrid(usual, work);
  EXPECT_GE(grid.rowsPerTask, 1);
  EXPECT_EQ(grid.rowsPerTask % work.rowUnit, 0);
  EXPECT_GE(grid.columnTilesPerTask, 1);
  EXPECT_LE(grid.columnTilesPerTask, work.columnTiles);
  int64_t rowBlocks = divideCeil(work.rows, grid.rowsPerTask);
  int64_t columnBlocks = divideCeil(work.columnTiles, grid.columnTilesPerTask);
  return {rowBlocks * columnBlocks,
          std::min(grid.rowsPerTask, work.rows) * grid.columnTilesPerTask *
              work.flopsPerRow / work.columnTiles};
}

TEST(Tiling, SmallWorkIsOneTask) {
  EXPECT_EQ(check({1, 1, 100, 1, 400, 400}).tasks, 1);
  EXPECT_EQ(check({10, 4, 10'000, 1, 400, 40'000}).tasks, 1);
  EXPECT_EQ(check({7, 3, 50'000, 14, 40'000, 400}).tasks, 1);
}

TEST(Tiling, LargeWorkIsSplit) {
  // 3x3 64 -> 64 at 56 x 56: two column tiles.
  Split split = check({56, 2, 2ll * 9 * 64 * 64 * 56, 1, 802'816, 147'456});
  EXPECT_GE(split.tasks, 16);
  EXPECT_LE(split.tasks, 64);
  // A vector times a matrix has one row, so it is split only by columns.
  EXPECT_GE(check({1, 32, 2ll * 2048 * 1000, 1, 8'192, 8'192'000}).tasks, 8);
}

// Two threads finish at the same time.
TEST(Tiling, TasksAreEven) {
  EXPECT_EQ(check({64, 1, 50'000, 1, 100'000, 1'000}).tasks, 4);
  EXPECT_EQ(check({64, 1, 80'000, 1, 100'000, 1'000}).tasks, 6);
}

// The larger operand, pixels or weights, is read once.
TEST(Tiling, LargerOperandIsSplitFirst) {
  Grid pixels = chooseGrid(usual, {56, 8, 20'000'000, 1, 10'000'000, 100'000});
  EXPECT_TRUE(pixels.rowsOutside);
  EXPECT_LT(pixels.rowsPerTask, 56);
  EXPECT_EQ(pixels.columnTilesPerTask, 8);
  Grid weights = chooseGrid(usual, {7, 32, 60'000'000, 1, 100'000, 10'000'000});
  EXPECT_FALSE(weights.rowsOutside);
  EXPECT_EQ(weights.rowsPerTask, 7);
  EXPECT_EQ(weights.columnTilesPerTask, 1);
}

TEST(Tiling, TasksAreNeitherTinyNorMany) {
  for (int64_t rows : {1, 2, 3, 7, 13, 56, 197, 3136})
    for (int64_t columnTiles : {1, 2, 3, 5, 8, 31, 64})
      for (int64_t flopsPerRow : {1'000, 40'000, 700'000, 90'000'000})
        for (int64_t rowUnit : {1, 6, 14})
          for (int64_t srcBytes : {1'000, 1'000'000}) {
            Split split = check(
                {rows, columnTiles, flopsPerRow, rowUnit, srcBytes, 50'000});
            EXPECT_LE(split.tasks, 64) << rows << " " << columnTiles;
            if (split.tasks > 1) {
              EXPECT_GE(split.flopsOfTask, 200'000)
                  << rows << " x " << columnTiles << " tiles of "
                  << flopsPerRow;
            }
          }
}

TEST(Tiling, DynamicRows) {
  Grid grid = chooseGrid(
      usual, {ShapedType::kDynamic, 3, 100'000, 14, 100'000, 10'000});
  EXPECT_GE(grid.rowsPerTask, 14);
  EXPECT_EQ(grid.rowsPerTask % 14, 0);
  EXPECT_GE(grid.columnTilesPerTask, 1);
  EXPECT_LE(grid.columnTilesPerTask, 3);
}

// Many rows may make src the larger operand, which exceeds the cache. Then
// tasks are of rows only, and there are enough tasks.
TEST(Tiling, ManyDynamicRows) {
  Work work{ShapedType::kDynamic, 8, 500'000, 14, 1 << 20, 1 << 20};
  EXPECT_EQ(chooseGrid(usual, work).wholeFrom, 0);
  work.srcRowBytes = 4096;
  Grid grid = chooseGrid(usual, work);
  ASSERT_GT(divideCeil(work.columnTiles, grid.columnTilesPerTask), 1);
  EXPECT_GE(grid.wholeFrom * work.srcRowBytes, work.weightBytes);
  EXPECT_GE(grid.wholeFrom, 8 * grid.rowsPerTask);
  work.columnTiles = 1;
  EXPECT_EQ(chooseGrid(usual, work).wholeFrom, 0);
}

} // namespace
