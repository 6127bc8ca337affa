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

// Each row has two vectors, so that an element broadcast from memory serves two
// multiply-adds. The two load ports of a core thus keep up with its two FMA
// ports: 14 + 2 loads for 28 multiply-adds. With 28 accumulators and 2 vectors
// of weights, 2 of 32 registers are left to hide the broadcasts' latency. With
// 16 registers there are 12 accumulators and 2 vectors of weights. If a panel
// has one vector, a row has one, too.
//
// Widening needs registers for the weights, for half of them widened, and for
// masks. This leaves 12 rows with 32 registers and 5 with 16. Bytes keep both
// halves at once, but need no masks.
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

// An AMX instruction multiplies a tile with 16 columns of 16 groups, in one
// cycle for each row. It does 16 times the work of a vector instruction. The
// overhead has two parts. Each tile of weights is loaded, with 16 cache lines.
// Each accumulator is stored to the stack and loaded from there, with 16 lines.
//
// With fewer than `amx_rows` rows, both AMX and vectors wait for the weights'
// lines, two in a cycle. Vectors need no configuration.
//
// Vectors multiply bf16 no faster than f32. AMX tiles thus pay from four groups
// on, however these are split into runs of k. Vectors multiply bytes in the
// time of multiply-adds, with a quarter as many instructions. With few groups
// they are therefore as fast as tiles. They are faster if a run ends within a
// group, because tiles would copy it. The limits were measured with 3x3 and 1x1
// convolutions of 3 to 100 channels.
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
  // Below this product of rows and groups, configuring AMX tiles takes longer
  // than multiplying in vectors.
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
  // Splits rows evenly, so that no row of a tile is empty, because smaller
  // tiles take less time. If rows do not divide evenly, two AMX tiles overlap.
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
  // The part of the second-level cache for an operand that stays there.
  int64_t cacheBytes = target.l2 / 2;
  // Weights of at most this size are loaded soon enough without prefetching.
  int64_t fewBytes = target.l2 / 16;
  bool isOpen = ShapedType::isDynamic(work.rows);
  // Counts at least one row, because an empty result still takes one task.
  int64_t rows = std::max<int64_t>(isOpen ? work.usualRows : work.rows, 1);
  int64_t columnTiles = std::max<int64_t>(work.columnTiles, 1);
  // Starting a task costs as much as many vector operations, and a thread reads
  // slowly what another thread wrote. Small tasks are therefore slower on two
  // threads than on one. If few rows share the weights, a task waits for the
  // weights.
  int64_t worth = std::max(rows * work.flopsPerRow / target.task_flops,
                           work.weightBytes / target.task_bytes);
  // Limits the number of tasks. With the usual limit of 32, two threads end
  // within 1/32 of each other.
  int64_t tasks = std::clamp<int64_t>(worth, 1, target.most_tasks);
  // Makes the number of tasks even, because two threads need as long for three
  // tasks as for four.
  if (tasks > 1)
    tasks = llvm::alignTo(tasks, 2);
  int64_t units = llvm::divideCeil(rows, work.rowUnit);
  auto rest = [&](int64_t blocks) {
    return int64_t(llvm::divideCeil(tasks, blocks));
  };
  // If tasks are split by rows, a thread reads data that it wrote itself in the
  // previous operation, instead of lines that another core wrote. Weights are
  // then read again for each block of rows. This pays if the weights stay in
  // the cache with the other data.
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
  // The number of operations of a task for each of its rows, and the number of
  // rows that outweigh the overhead of a task.
  int64_t perRow = std::max<int64_t>(
      work.flopsPerRow * grid.columnTilesPerTask /
          columnTiles,
      1);
  int64_t worthRows = llvm::alignTo(
      llvm::divideCeil(target.task_flops, perRow), work.rowUnit);
  grid.rowsPerTask = std::min(worthRows, grid.rowsPerTask);
  // Limits the number of blocks, for runs with more rows than usual.
  grid.rowBlocks = llvm::divideCeil(target.most_tasks, columnBlocks);
  // From `wholeFrom` rows on, uses blocks of rows only. Each block of columns
  // would read a large src again, and there are enough blocks of rows for all
  // threads.
  constexpr int64_t kLeastBlocks = 8;
  if (columnBlocks > 1 && work.srcRowBytes > 0)
    grid.wholeFrom = std::max<int64_t>(
        llvm::divideCeil(std::max(work.weightBytes, cacheBytes),
                         work.srcRowBytes),
        kLeastBlocks * grid.rowsPerTask);
  return grid;
}
