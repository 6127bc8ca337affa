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
static constexpr unsigned kAVX = 1, kFMA = 3, kAVX512F = 6, kVNNI = 11,
                          kBF16 = 12;

VectorUnit codegen::vectorUnitOf(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>("ingot.target");
  uint64_t features = 0x3f;
  for (const Level &level : kLevels)
    if (name && name.getValue() == level.name)
      features = level.features;
  if (features & bit(kAVX512F))
    return {16, 32, true, bool(features & bit(kBF16)),
            bool(features & bit(kVNNI))};
  return {features & bit(kAVX) ? 8 : 4, 16, bool(features & bit(kFMA))};
}

Product codegen::productFor(const VectorUnit &unit, Type weights) {
  if (weights.isBF16())
    return unit.hasBF16 ? Product::bf16Dot : Product::bf16Wide;
  if (weights.isInteger(8))
    return unit.hasVNNI ? Product::int8Dot : Product::int8Wide;
  return Product::f32;
}

int64_t codegen::groupOf(Product product) {
  switch (product) {
  case Product::f32:
    return 1;
  case Product::bf16Dot:
  case Product::bf16Wide:
    return 2;
  case Product::int8Dot:
  case Product::int8Wide:
    return 4;
  }
  llvm_unreachable("all products are listed");
}

// Two vectors a row: an element broadcast from memory then serves two
// multiply-adds, so that the two load ports of a core keep up with its two FMA
// ports: 14 + 2 loads for 28 multiply-adds. With 28 accumulators and 2 vectors
// of weights 32 registers leave 2, which hide the broadcasts' latency; with 16
// registers it is 12 and 2. One vector a row is for panels of one vector.
//
// Widening takes registers for the weights and for one half of them, and for
// masks, so 12 rows of 32 registers and 5 of 16; bytes have both halves there at
// once, and two parts of a row.
RegisterTile codegen::chooseTile(const VectorUnit &unit, Product product,
                                 int64_t panelWidth) {
  int64_t vectors = panelWidth >= 2 * unit.lanes ? 2 : 1;
  bool isSmall = unit.numRegisters != 32;
  switch (product) {
  case Product::f32:
  case Product::bf16Dot:
  case Product::int8Dot:
    return {isSmall ? 6 : 14, vectors, product};
  case Product::bf16Wide:
    return {isSmall ? 5 : 12, vectors, product};
  case Product::int8Wide:
    return {isSmall ? 4 : 12, vectors, product};
  }
  llvm_unreachable("all products are listed");
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

/// What may stay of an operand in the second-level cache, half of 1 MiB.
static constexpr int64_t kCacheBytes = 512 << 10;
/// Weights that come soon enough.
static constexpr int64_t kFewBytes = 64 << 10;

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
          rowsOutside,
          work.weightBytes > (rowsOutside ? kCacheBytes : kFewBytes)};
}
