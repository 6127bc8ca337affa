//===- Tiling.h - register tiles and grids of tasks -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of register tiles and tasks. All schedules are chosen with them.
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

/// Returns the kind of vector product that the target uses for weights of this
/// element type. `group` distinguishes f16 by f16 from f32 by f16.
Product productFor(const TargetInfo &target, mlir::Type weights,
                   int64_t group = 1);

/// Returns the kind of AMX product for weights of this type, or nullopt if the
/// target has none.
std::optional<Product> tilesFor(const TargetInfo &target, mlir::Type weights);

/// A register tile of a matrix product: rows (pixels) times vectors of columns
/// (output channels), with one accumulator each. The other registers hold a
/// vector of weights for each column and a broadcast element of the input.
struct RegisterTile {
  int64_t rows;
  int64_t vectors;
  Product product = Product::f32;
  /// The rows of each AMX tile; `rows` is at least this number and at most
  /// twice as large.
  int64_t amxRows = 0;
  /// True if weights of bytes are widened to int16 before the product.
  bool hasInt16Weights = false;
  /// True if integers are summed block by block in separate accumulators.
  bool hasBlocks = false;
};

/// Returns the tile for panels of `panelWidth` columns.
RegisterTile chooseTile(const TargetInfo &target, Product product,
                        int64_t panelWidth);

/// Returns the number of vectors of a tile of one row. A vector times a matrix
/// is limited by reading the weights. They are read as one stream, which is as
/// wide as a panel if registers allow it.
int64_t vectorsOfOneRow(const TargetInfo &target, int64_t panelWidth);

/// Returns the vector registers that a tile without AMX needs.
int64_t registersOf(const RegisterTile &tile);

/// Rows that are multiplied with one panel. Each result is a sum over `runs`
/// runs of `depth` elements that are contiguous in memory.
struct ProductShape {
  mlir::Type weights;
  int64_t panelWidth;
  /// The number of rows at a constant stride; may be dynamic.
  int64_t rows;
  int64_t depth, runs;
  /// The group of the weights.
  int64_t group = 1;
  /// True if the product has no other rows.
  bool areAllRows = false;
};

/// Returns the tile and the kind of product for a shape.
RegisterTile chooseTile(const TargetInfo &target, const ProductShape &shape);

/// The division of a run of `depth` elements into steps of AMX tiles.
struct AmxSteps {
  AmxSteps(int64_t depth, int64_t group);

  /// The groups of each step. All steps are equal, because LLVM gives a
  /// register one shape.
  int64_t groups;
  /// The number of steps whose elements are all within the run.
  int64_t whole;
  /// The first group of a last step; nullopt if the `whole` steps cover the
  /// run. The last step may cover groups behind the run, and groups that the
  /// `whole` steps have counted.
  std::optional<int64_t> last;
};

/// Returns the number of rows, near `most`, that splits `rows` most evenly.
int64_t evenTile(int64_t rows, int64_t most);

/// The split of a kernel's output into tasks: blocks of rows times blocks of
/// column tiles.
struct Grid {
  int64_t rowsPerTask;
  int64_t columnTilesPerTask;
  /// True if the tasks of a block of rows are consecutive; else those of a
  /// block of columns.
  bool rowsOutside;
  /// True if prefetching weights pays: they are many, and do not stay in the
  /// second-level cache from one block of rows to the next.
  bool prefetch = false;
  /// The maximum number of blocks of rows; 0 for no limit. With a limit, the
  /// size of a block is a multiple of `rowsPerTask`.
  int64_t rowBlocks = 0;
  /// The number of rows from which on a task takes all column tiles; 0 for
  /// never. Rows are then split into more blocks, by the factor `columnBlocks`.
  int64_t wholeFrom = 0;
};

/// The number of neighbouring columns that a task of `cpu.softmax` takes
/// through all rows. They are whole cache lines, and few enough that a block of
/// them stays in the cache.
constexpr int64_t kSoftmaxColumns = 64;

/// The properties of a kernel that decide its grid.
struct Work {
  /// The number of rows; may be dynamic.
  int64_t rows;
  int64_t columnTiles;
  /// The number of operations for all columns of a row.
  int64_t flopsPerRow;
  /// The unit in which rows are split.
  int64_t rowUnit;
  int64_t srcBytes, weightBytes;
  /// The assumed number of rows if it is dynamic.
  int64_t usualRows = 256;
  /// The number of bytes of src for each row, if the number of rows is dynamic.
  /// If 0, the split of columns must not change.
  int64_t srcRowBytes = 0;
};

/// Splits the work into tasks of about `task_flops` or `task_bytes` each. The
/// larger of src and weights is read once, in blocks that stay in the
/// second-level cache. The smaller is read again for each block.
///
/// If the number of rows is dynamic, blocks are as small as tasks may be, but
/// larger if there would be too many. At run time src may turn out larger than
/// the weights and the cache. In this case src is read once.
Grid chooseGrid(const TargetInfo &target, const Work &work);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_TILING_H
