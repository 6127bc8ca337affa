//===- Tiling.h - register tiles and grids of tasks -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that knows how large they are to be: schedules are chosen with
// it.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_SCHEDULE_TILING_H
#define INGOT_PASSES_CPU_SCHEDULE_TILING_H

#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace ingot::cpu {

using cpu::Product;

/// How the target sums up products with weights of this element type in
/// vectors; `group` tells products of f16 from those of f32 by f16.
Product productFor(const TargetInfo &target, mlir::Type weights,
                   int64_t group = 1);

/// The same in AMX tiles, if it has any for this type.
std::optional<Product> tilesFor(const TargetInfo &target, mlir::Type weights);

/// A register tile of a matrix product: rows (pixels) times vectors of columns
/// (output channels), one accumulator each. What the accumulators leave free
/// holds a vector of weights a column and a broadcast element of the input.
struct RegisterTile {
  int64_t rows;
  int64_t vectors;
  Product product = Product::f32;
  /// Of each AMX tile; a register tile has that many rows or up to twice as
  /// many.
  int64_t amxRows = 0;
  /// Whether weights are words before they are multiplied, of bytes as words.
  bool hasWords = false;
  /// Whether integers are summed up block by block, beside the accumulators.
  bool hasBlocks = false;
};

/// The tile for panels of `panelWidth` columns.
RegisterTile chooseTile(const TargetInfo &target, Product product,
                        int64_t panelWidth);

/// Weights of f16 that are widened for many rows stay in the second-level
/// cache, and go on the stack, of a megabyte.
constexpr int64_t kMostWidenedBytes = 256 << 10;

/// A vector times a matrix waits for the weights: what is read of them is one
/// stream, as wide as a panel where registers allow it.
int64_t vectorsOfOneRow(const TargetInfo &target, int64_t panelWidth);

/// The vector registers that a tile takes, but for AMX.
int64_t registersOf(const RegisterTile &tile);

/// Rows that are multiplied with one panel, each the sum of `runs` runs of
/// `depth` elements that are contiguous in memory.
struct ProductShape {
  mlir::Type weights;
  int64_t panelWidth;
  /// Those that stand a stride apart; may be unknown.
  int64_t rows;
  int64_t depth, runs;
  /// Of the weights.
  int64_t group = 1;
  /// Whether there are no other rows.
  bool areAllRows = false;
};

/// The tile and the kind of product for a shape.
RegisterTile chooseTile(const TargetInfo &target, const ProductShape &shape);

/// How a run of `depth` elements is cut into the groups of AMX tiles.
struct AmxSteps {
  AmxSteps(int64_t depth, int64_t group);

  /// Of a step: the same in all, since LLVM gives a register one shape.
  int64_t groups;
  /// Steps whose elements all are within the run.
  int64_t whole;
  /// Where a last one begins, in groups, that others are in: those behind the
  /// run and those that `whole` steps have counted.
  std::optional<int64_t> last;
};

/// The number of rows, near `most`, that splits `rows` most evenly.
int64_t evenTile(int64_t rows, int64_t most);

/// How the output of a kernel is split into tasks: blocks of rows times blocks
/// of column tiles.
struct Grid {
  int64_t rowsPerTask;
  int64_t columnTilesPerTask;
  /// Whether the tasks of a block of rows follow each other, rather than those
  /// of a block of columns.
  bool rowsOutside;
  /// Whether it pays to prefetch weights: they are neither few nor stay in the
  /// second-level cache, block of rows after block.
  bool prefetch = false;
  /// Rows are split into at most so many blocks, whose size is a multiple of
  /// `rowsPerTask` then; 0 for no limit.
  int64_t rowBlocks = 0;
  /// From that many rows on a task takes all column tiles, and rows are split
  /// into `columnBlocks` times as many blocks; 0 for never.
  int64_t wholeFrom = 0;
};

/// Neighbouring columns that a task of `cpu.softmax` takes through all rows:
/// whole cache lines, few enough for a block of them to stay in the cache.
constexpr int64_t kSoftmaxColumns = 64;

/// What a grid is chosen by.
struct Work {
  /// May be unknown.
  int64_t rows;
  int64_t columnTiles;
  /// Of all columns.
  int64_t flopsPerRow;
  /// Rows are split in multiples of it.
  int64_t rowUnit;
  int64_t srcBytes, weightBytes;
  /// What is assumed of an unknown number of rows.
  int64_t usualRows = 256;
  /// Of src that come with a row where their number is unknown; 0 where columns
  /// have to be split as they are.
  int64_t srcRowBytes = 0;
};

/// Splits the work so that every task has about `task_flops` or `task_bytes`
/// where there is more than one. The larger of src and weights is read once, a
/// block of it staying in the second-level cache, the smaller one as often as
/// there are blocks. Of an unknown number of rows, blocks are as small as a
/// task is worth, and larger where they would be too many; where a run has so
/// many that src is larger than weights and than what stays in the cache, src
/// is what is read once.
Grid chooseGrid(const TargetInfo &target, const Work &work);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_TILING_H
