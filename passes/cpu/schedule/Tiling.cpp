//===- Tiling.cpp - register tiles and grids of tasks ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/Tiling.h"

#include "dialects/cpu/PackedWeights.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

Product cpu::productFor(const TargetInfo &target, Type weights, int64_t group) {
  int64_t size = weights.isF16() ? group : cpu::groupOf(weights);
  Product found = Product::f32;
  for (const ProductInfo &info : getProducts()) {
    if (info.usesTiles() || !info.multiplies(weights, size))
      continue;
    found = info.product;
    if (info.isUsual(target))
      break;
  }
  return found;
}

std::optional<Product> cpu::tilesFor(const TargetInfo &target, Type weights) {
  for (const ProductInfo &info : getProducts())
    if (info.usesTiles() && info.isSupported(target) &&
        info.multiplies(weights, cpu::groupOf(weights)))
      return info.product;
  return std::nullopt;
}

// Two vectors a row: an element broadcast from memory then serves two
// multiply-adds, so that the two load ports of a core keep up with its two FMA
// ports: 14 + 2 loads for 28 multiply-adds. With 28 accumulators and 2 vectors
// of weights 32 registers leave 2, which hide the broadcasts' latency; with 16
// registers it is 12 and 2. One vector a row is for panels of one vector.
//
// Widening takes registers for the weights and for one half of them, and for
// masks, so 12 rows of 32 registers and 5 of 16; bytes have both halves there
// at once, and no masks.
RegisterTile cpu::chooseTile(const TargetInfo &target, Product product,
                             int64_t panelWidth) {
  int64_t vectors = panelWidth >= 2 * target.lanes ? 2 : 1;
  const ProductInfo &info = infoOf(product);
  int64_t rows = target.numRegisters == 32 ? info.rowsOf32 : info.rowsOf16;
  return {rows, vectors, product, info.usesTiles() ? cpu::kAmxRows : 0};
}

int64_t cpu::vectorsOfOneRow(const TargetInfo &target, int64_t panelWidth) {
  return std::min<int64_t>(panelWidth / target.lanes, 4);
}

// One instruction multiplies a tile, whose rows it takes a cycle each, with 16
// columns of 16 groups: 16 times what a vector instruction does. What it costs
// to get there are the weights' tiles, 16 cache lines each, and the way of the
// accumulators over the stack, 16 lines stored and loaded.
//
// Below `amx_rows` rows the weights' lines, two a cycle, are what either waits
// for, and vectors need no configuration.
//
// Vectors multiply bf16 no faster than f32, so tiles pay from four groups on,
// whatever run of k they are in. Products of bytes take no longer than
// multiply-adds, for a quarter as many: of few groups vectors are as fast, and
// faster where a run ends within a group, which is copied then. Measured with
// 3x3 and 1x1 convolutions of 3 to 100 channels.
static bool isWorthTiles(const TargetInfo &target, const ProductShape &shape) {
  struct Least {
    int64_t run, groups;
  };
  int64_t group = cpu::groupOf(shape.weights);
  bool isWhole = shape.depth % group == 0;
  Least least{8, 16};
  if (shape.weights.isBF16())
    least = {1, 4};
  else if (isWhole)
    least = {3, 8};
  int64_t groups = llvm::divideCeil(shape.depth, group);
  // Configuring tiles takes as long as vectors take for 8 rows of 64 bytes.
  constexpr int64_t kFewBytes = 256;
  if (shape.areAllRows && shape.weights.isInteger(8) &&
      !ShapedType::isDynamic(shape.rows) && shape.rows * groups < kFewBytes)
    return false;
  return (ShapedType::isDynamic(shape.rows) || shape.rows >= target.amx_rows) &&
         groups >= least.run && groups * shape.runs >= least.groups;
}

RegisterTile cpu::chooseTile(const TargetInfo &target,
                             const ProductShape &shape) {
  Product product = productFor(target, shape.weights, shape.group);
  std::optional<Product> tiles = tilesFor(target, shape.weights);
  if (tiles && isWorthTiles(target, shape))
    product = *tiles;
  RegisterTile tile = chooseTile(target, product, shape.panelWidth);
  if (!usesTiles(product) || ShapedType::isDynamic(shape.rows))
    return tile;
  // Rows split evenly: no row of a tile is empty, and smaller tiles take less
  // time. Where they do not divide, two AMX tiles overlap.
  tile.rows = evenTile(shape.rows, tile.rows);
  tile.amxRows = evenTile(tile.rows, cpu::kAmxRows);
  return tile;
}

AmxSteps::AmxSteps(int64_t depth, int64_t group) {
  int64_t all = llvm::divideCeil(depth, group);
  int64_t steps = llvm::divideCeil(all, cpu::kAmxWords);
  bool isWhole = depth % group == 0;
  if (isWhole && all % steps == 0) {
    groups = all / steps;
    whole = steps;
    return;
  }
  groups = std::min(all, cpu::kAmxWords);
  whole = depth / (groups * group);
  last = all - groups;
}

int64_t cpu::evenTile(int64_t rows, int64_t most) {
  if (rows <= most)
    return rows;
  return llvm::divideCeil(rows, llvm::divideCeil(rows, most));
}

Grid cpu::chooseGrid(const TargetInfo &target, const Work &work) {
  // What may stay of an operand in the second-level cache.
  int64_t cacheBytes = target.l2 / 2;
  // Weights that come soon enough.
  int64_t fewBytes = target.l2 / 16;
  bool isOpen = ShapedType::isDynamic(work.rows);
  // What turned out to have none is one task all the same.
  int64_t rows = std::max<int64_t>(isOpen ? work.usualRows : work.rows, 1);
  int64_t columnTiles = std::max<int64_t>(work.columnTiles, 1);
  // Handing out a task costs about a microsecond, 100 kFLOP of vectors, and
  // what one thread wrote is far from another. With less than ten times as
  // much, a small text classifier was slower on two threads than on one.
  // Weights that few rows are multiplied with are what is waited for.
  int64_t worth = std::max(rows * work.flopsPerRow / target.task_flops,
                           work.weightBytes / target.task_bytes);
  // The usual 32 are enough for two threads to end within 1/32 of each other.
  int64_t tasks = std::clamp<int64_t>(worth, 1, target.most_tasks);
  // Three tasks take two threads as long as four.
  if (tasks > 1)
    tasks = llvm::alignTo(tasks, 2);
  int64_t units = llvm::divideCeil(rows, work.rowUnit);
  auto rest = [&](int64_t blocks) {
    return int64_t(llvm::divideCeil(tasks, blocks));
  };
  // By rows, a thread reads what it wrote in the operation before: a line that
  // another core wrote takes some 15 ns. That is worth reading weights once
  // more where they stay in the cache beside the rest.
  bool isShared = tasks > 1 && work.weightBytes <= cacheBytes / 2 &&
                  (units % 2 == 0 || units > 4);
  bool rowsOutside = work.srcBytes > work.weightBytes || isShared;
  int64_t rowBlocks, columnBlocks;
  if (rowsOutside) {
    rowBlocks = std::min(units, tasks);
    columnBlocks = std::min(columnTiles, rest(rowBlocks));
  } else {
    columnBlocks = std::min(columnTiles, tasks);
    rowBlocks = std::min(units, rest(columnBlocks));
  }
  Grid grid{int64_t(llvm::divideCeil(units, rowBlocks)) * work.rowUnit,
            int64_t(llvm::divideCeil(columnTiles, columnBlocks)),
            rowsOutside,
            work.weightBytes > (rowsOutside ? cacheBytes : fewBytes)};
  if (!isOpen)
    return grid;
  // What a row of a task is worth, and how many of them one.
  int64_t perRow = std::max<int64_t>(
      work.flopsPerRow * grid.columnTilesPerTask /
          columnTiles,
      1);
  int64_t worthRows = llvm::alignTo(
      llvm::divideCeil(target.task_flops, perRow), work.rowUnit);
  grid.rowsPerTask = std::min(worthRows, grid.rowsPerTask);
  // More rows than usual are as many tasks as there may be.
  grid.rowBlocks = llvm::divideCeil(target.most_tasks, columnBlocks);
  // Blocks of columns would read a large src as often as there are blocks; of
  // rows, there are enough for all threads.
  constexpr int64_t kLeastBlocks = 8;
  if (columnBlocks > 1 && work.srcRowBytes > 0)
    grid.wholeFrom = std::max<int64_t>(
        llvm::divideCeil(std::max(work.weightBytes, cacheBytes),
                         work.srcRowBytes),
        kLeastBlocks * grid.rowsPerTask);
  return grid;
}
