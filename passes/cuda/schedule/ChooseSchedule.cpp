//===- ChooseSchedule.cpp - schedules of products -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/ChooseSchedule.h"

#include "passes/cuda/schedule/Machine.h"

#include "llvm/Support/MathExtras.h"

#include <random>

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// A tile of a block, and of its warps.
struct Tile {
  int64_t rows, columns, warpRows, warpColumns;
};

/// The GPU that schedules are estimated for: the smallest data center GPU of
/// the levels. Larger ones have more multiprocessors at similar rates.
struct Machine {
  /// Multiply-adds of a multiprocessor in a cycle: of f32, and by matrix units
  /// of tf32, and of f16 or bf16.
  int64_t floats = kFloatRate, tf32 = 512, halves = kHalfRate;
  /// Bytes that a multiprocessor reads from shared memory in a cycle.
  int64_t sharedBytes = 128;
};

} // namespace

static constexpr Machine kMachine;

/// Bytes of a row in a stage. Longer rows need fewer barriers, but more shared
/// memory.
static constexpr int64_t kDepthBytes = 64;
static constexpr int64_t kStages = 4;

/// Numbers of parts of the depth.
static constexpr int64_t kParts[] = {1, 2, 3, 4, 6, 8, 12, 16};

/// Tiles for matrix units. A warp has 16 to 64 sums of a thread.
static constexpr Tile kHalfTiles[] = {
    {128, 128, 64, 32}, {128, 64, 32, 32}, {64, 128, 32, 32},
    {64, 64, 32, 32},   {64, 32, 16, 32},  {32, 64, 16, 32},
    {32, 32, 16, 16},   {16, 64, 16, 16},  {16, 32, 16, 16}};

/// Tiles for multiply-adds of f32. A thread has 8 to 64 sums.
static constexpr Tile kFloatTiles[] = {
    {128, 128, 32, 64}, {128, 64, 32, 32}, {64, 128, 32, 32},
    {64, 64, 32, 32},   {64, 32, 32, 16},  {32, 64, 16, 32},
    {32, 32, 16, 16},   {16, 64, 16, 16},  {16, 32, 16, 16}};

static ArrayRef<Tile> tilesOf(const Product &product) {
  return product.usesMatrixUnits() ? ArrayRef<Tile>(kHalfTiles)
                                   : ArrayRef<Tile>(kFloatTiles);
}

static ScheduleAttr makeSchedule(const Product &product, const Tile &tile,
                                 int64_t depth, int64_t stages) {
  return ScheduleAttr::get(
      product.src.element.getContext(), tile.rows, tile.columns, tile.warpRows,
      tile.warpColumns, depth, stages,
      product.src.copyBytes(product.channels().knownDivisor()),
      product.weights.copyBytes(product.weights.sizes.back().knownDivisor()),
      storedElements(
          product.dst, product.operands,
          std::min(tile.columns, kAccessBytes / product.dst.elementBytes()),
          product.columns().knownDivisor()));
}

int64_t cuda::estimateCycles(const Product &product, ScheduleAttr schedule) {
  const int64_t rows = schedule.getRows(), columns = schedule.getColumns();
  const int64_t step = product.stepElements(schedule);
  const int64_t steps = product.stepsOfPart(schedule);
  const int64_t perProcessor =
      llvm::divideCeil(product.blocks(schedule), kProcessors);
  // Warps read their factors from shared memory, and blocks from the L2 cache.
  const int64_t shared = (schedule.getWarpRows() + schedule.getWarpColumns()) *
                         (schedule.getThreads() / kWarp) * schedule.getDepth() /
                         kMachine.sharedBytes;
  const int64_t cached =
      (rows + columns) * schedule.getDepth() / kCacheBytes;
  const int64_t rate = product.isTF32              ? kMachine.tf32
                       : product.usesMatrixUnits() ? kMachine.halves
                                                   : kMachine.floats;
  const int64_t products = rows * columns * step / rate;
  // Copies of a few bytes are instructions of their own.
  const int64_t copies =
      rows * schedule.getDepth() / schedule.getSrcBytes() / kWarp * 2;
  const int64_t busy = std::max({shared, cached, products, copies});
  // A single block waits at each step; further blocks fill the time.
  const int64_t alone = steps * (busy + kStep) + kLatency;
  return std::max(alone, perProcessor * steps * busy + kLatency);
}

ScheduleAttr cuda::chooseSchedule(const Product &product,
                                  SmallVectorImpl<Alternative> &alternatives) {
  ScheduleAttr best;
  int64_t least = 0;
  for (const Tile &tile : tilesOf(product)) {
    ScheduleAttr schedule = makeSchedule(product, tile, kDepthBytes, kStages);
    const int64_t cycles = estimateCycles(product, schedule);
    alternatives.push_back({tileText(schedule), cycles});
    if (!best || cycles < least) {
      best = schedule;
      least = cycles;
    }
  }
  return best;
}

int64_t cuda::estimateSumOfParts(int64_t bytes) {
  return kLatency + bytes / (kProcessors * kCacheBytes);
}

/// Returns the cycles of writing the parts of a product and adding them up.
static int64_t estimateSum(const Product &product) {
  const int64_t bytes = product.parts * product.usualBatches() *
                        product.usualRows() * product.usualColumns() *
                        int64_t(sizeof(float));
  return kLaunch + bytes / (kProcessors * kCacheBytes) +
         estimateSumOfParts(bytes);
}

Parts cuda::chooseParts(Product product) {
  Parts best{1, 0};
  for (int64_t parts : kParts) {
    product.parts = parts;
    int64_t cycles = parts == 1 ? 0 : estimateSum(product);
    SmallVector<Alternative> alternatives;
    ScheduleAttr schedule = chooseSchedule(product, alternatives);
    // A part should fill the pipeline.
    if (parts > 1 && product.stepsOfPart(schedule) < kStages)
      break;
    cycles += estimateCycles(product, schedule);
    if (parts == 1 || cycles < best.cycles)
      best = {parts, cycles};
  }
  return best;
}

int64_t cuda::drawParts(const Product &product, uint64_t seed) {
  std::mt19937_64 random(seed);
  return int64_t(1 + random() % 6);
}

ScheduleAttr cuda::drawSchedule(const Product &product, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](uint64_t count) { return int64_t(random() % count); };
  ArrayRef<Tile> tiles = tilesOf(product);
  for (;;) {
    const Tile &tile = tiles[size_t(draw(tiles.size()))];
    const int64_t depth = 64 << draw(2), stages = 2 + draw(4);
    if (stages * (tile.rows + tile.columns) * depth > kMaxSharedBytes)
      continue;
    ScheduleAttr schedule = makeSchedule(product, tile, depth, stages);
    auto narrow = [&](int64_t bytes, int64_t least) {
      return std::max(bytes >> draw(3), least);
    };
    const int64_t element = product.src.elementBytes();
    return ScheduleAttr::get(product.src.element.getContext(), tile.rows,
                             tile.columns, tile.warpRows, tile.warpColumns,
                             depth, stages,
                             narrow(schedule.getSrcBytes(), element),
                             narrow(schedule.getWeightsBytes(), element),
                             narrow(schedule.getStored(), 1));
  }
}

std::string cuda::tileText(ScheduleAttr schedule) {
  return std::to_string(schedule.getRows()) + "x" +
         std::to_string(schedule.getColumns());
}
