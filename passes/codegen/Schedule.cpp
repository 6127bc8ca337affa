//===- Schedule.cpp - how kernels are tiled and split ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/Schedule.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {
struct Level {
  const char *name;
  uint64_t features;
};
} // namespace

static constexpr Level kLevels[] = {
#define INGOT_CPU_LEVEL(NAME, MASK) {NAME, MASK},
#include "ingot/abi/cpu_features.inc"
};

static constexpr uint64_t bit(unsigned number) { return uint64_t(1) << number; }
static constexpr unsigned kAVX = 1, kFMA = 3, kAVX512F = 6;

VectorUnit codegen::vectorUnitOf(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>("ingot.target");
  uint64_t features = 0x3f;
  for (const Level &level : kLevels)
    if (name && name.getValue() == level.name)
      features = level.features;
  if (features & bit(kAVX512F))
    return {16, 32, true};
  return {features & bit(kAVX) ? 8 : 4, 16, bool(features & bit(kFMA))};
}

// Two vectors a row: an element broadcast from memory then serves two
// multiply-adds, so that the two load ports of a core keep up with its two FMA
// ports: 14 + 2 loads for 28 multiply-adds. With 28 accumulators and 2 vectors
// of weights 32 registers leave 2, which hide the broadcasts' latency; with 16
// registers it is 12 and 2. One vector a row is for panels of one vector.
RegisterTile codegen::chooseTile(const VectorUnit &unit, int64_t panelWidth) {
  int64_t vectors = panelWidth >= 2 * unit.lanes ? 2 : 1;
  return {unit.numRegisters == 32 ? 14 : 6, vectors};
}

int64_t codegen::evenTile(int64_t rows, int64_t most) {
  if (rows <= most)
    return rows;
  return llvm::divideCeil(rows, llvm::divideCeil(rows, most));
}

/// Handing out a task costs about a microsecond: 100 kFLOP.
static constexpr int64_t kMinTaskFlops = 400'000;
/// Enough for two threads to end within 1/32 of each other.
static constexpr int64_t kMaxTasks = 32;

Grid codegen::chooseGrid(const Work &work) {
  // Of a dynamic number assume some.
  int64_t rows = ShapedType::isDynamic(work.rows) ? 256 : work.rows;
  int64_t tasks = std::clamp<int64_t>(rows * work.flopsPerRow / kMinTaskFlops,
                                      1, kMaxTasks);
  int64_t units = llvm::divideCeil(rows, work.rowUnit);
  auto rest = [&](int64_t blocks) {
    return int64_t(llvm::divideCeil(tasks, blocks));
  };
  bool rowsOutside = work.srcBytes > work.weightBytes;
  int64_t rowBlocks, columnBlocks;
  if (rowsOutside) {
    rowBlocks = std::min(units, tasks);
    columnBlocks = std::min(work.columnTiles, rest(rowBlocks));
  } else {
    columnBlocks = std::min(work.columnTiles, tasks);
    rowBlocks = std::min(units, rest(columnBlocks));
  }
  return {int64_t(llvm::divideCeil(units, rowBlocks)) * work.rowUnit,
          int64_t(llvm::divideCeil(work.columnTiles, columnBlocks)),
          rowsOutside};
}
