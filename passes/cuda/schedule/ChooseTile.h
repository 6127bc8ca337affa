//===- ChooseTile.h - tiles of transposes -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_CHOOSETILE_H
#define INGOT_PASSES_CUDA_SCHEDULE_CHOOSETILE_H

#include "passes/backend/Policy.h"
#include "passes/support/Reason.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::cuda {

/// An operand whose contiguous dimension is not that of the result.
struct TransposedOperand {
  mlir::OpOperand *operand;
  /// Bytes of an element.
  int64_t bytes;
  /// Neighboring elements of the widest access.
  int64_t widest;
  /// Distance of neighbors of the result in the operand, in elements.
  int64_t stride;
};

/// A linalg op on memrefs without reductions that has transposed operands. All
/// of them are contiguous along the loop `src`, and the result along `dst`.
struct Transpose {
  /// Returns nullopt if no operand of `op` is transposed.
  static std::optional<Transpose> of(mlir::linalg::LinalgOp op);

  mlir::linalg::LinalgOp op;
  unsigned src, dst;
  llvm::SmallVector<TransposedOperand> operands;
  /// Neighboring elements of the widest access of the results.
  int64_t widestStore;
  /// Steps of each loop. Usual numbers stand for steps that only a run knows.
  llvm::SmallVector<int64_t> steps;

  /// Returns true if only a run knows the steps of the loop.
  bool isOpen(unsigned loop) const;
  int64_t numElements() const;
};

/// The tile of a block: `src` by `dst` steps of the two loops, both powers of
/// two.
struct Tile {
  int64_t src, dst;
  /// Neighboring elements that a thread loads of each transposed operand.
  llvm::SmallVector<int64_t> loaded;
  /// Neighboring elements that a thread stores.
  int64_t stored;
  /// Distance of two rows of each operand's tile in shared memory, in elements.
  llvm::SmallVector<int64_t> pitches;

  /// Returns the bytes of shared memory in front of an operand's tile. For the
  /// number of operands it returns the bytes of all.
  int64_t offsetOf(const Transpose &transpose, size_t operand) const;
  std::string text() const;
};

/// Returns the cycles of the op as a grid, in which each thread reads the
/// transposed operands itself.
int64_t estimateGrid(const Transpose &transpose);

/// Returns the cycles of the op with a tile.
int64_t estimateCycles(const Transpose &transpose, const Tile &tile);

/// Chooses the tile with the least estimated time. Returns why a grid is used
/// instead. `others` gets all alternatives with their times.
Reason chooseTile(const Transpose &transpose, Tile &tile,
                  llvm::SmallVectorImpl<Alternative> &others);

/// Draws a tile by `seed` for a test. Returns why there is none.
Reason drawTile(const Transpose &transpose, Tile &tile, uint64_t seed);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_CHOOSETILE_H
