//===- WinogradEmitter.h - code of minimal filtering ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of tiles of m x m pixels
//   for tile, point: transform the pixels that it reads, all channels
//   for column tile (its transformed weights go through the caches once)
//     for point, row tile of the block
//       for k over channels:
//         sums[point, tile] += transformed[point, tile, k] * weights[k, column]
//     for tile: transform the sums into m x m pixels, epilogue, store
//
// Both transforms go through columns of a tile first and through its rows then,
// over vectors of channels. Transformed pixels of a block and the sums of a
// column tile are on the stack, where the second-level cache keeps them.
//
// WinogradToVector.cpp multiplies f32 by weights that were transformed when
// compiling, ConvWinograd.cpp bytes.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_WINOGRAD_WINOGRADEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_WINOGRAD_WINOGRADEMITTER_H

#include "passes/cpu/kernels/Kernels.h"

namespace ingot::cpu {

/// Emits one task. What it keeps are elements of four bytes: numbers, or pairs
/// of words.
class WinogradEmitter {
public:
  /// Pixels of src, of which `elements` of type `kept` are kept at each point.
  struct Pixels {
    mlir::Value src;
    llvm::ArrayRef<int64_t> pads;
    mlir::Type kept;
    int64_t elements;
  };
  WinogradEmitter(mlir::OpBuilder &builder, kernel::EpilogueOpInterface op,
                  const WinogradPlan &plan, const Pixels &of);
  virtual ~WinogradEmitter() = default;

  void emit(mlir::Value task);

protected:
  /// What is loaded of a pixel at once, and where it goes.
  struct Part {
    mlir::Value vector;
    Index to;
  };

  /// Runs `body` for all channels of a pixel: with a function that loads some
  /// of one, whose channels begin at an element of a memref.
  using LoadFn = llvm::function_ref<llvm::SmallVector<Part>(mlir::Value data,
                                                            Index at)>;
  virtual void
  forEachLoad(llvm::function_ref<void(LoadFn load)> body) = 0;
  /// Fills a pixel in the padding; returns where its channels begin.
  virtual mlir::Value makePadding() = 0;
  /// What transforms compute on, of what is kept.
  virtual mlir::Value unpack(mlir::Value kept) { return kept; }
  virtual mlir::Value pack(mlir::Value numbers) { return numbers; }
  /// Multiplies the block's pixels by the weights of a column tile.
  virtual void multiply(const Tile &tile, Index columnTile,
                        Index rowTiles) = 0;
  /// What a transformed sum stands for.
  virtual mlir::Value finish(mlir::Value sum) { return sum; }

  /// The sum of `values`, each times the factor of its number, which may be 0.
  mlir::Value combine(llvm::ArrayRef<mlir::Value> values,
                      llvm::function_ref<double(int64_t)> factor);
  /// Points of a line, whose first is at 0 and whose last at infinity: those of
  /// a pair are the even part of a polynomial plus and less the odd one.
  /// `factor(point, k)` is what value k counts for.
  llvm::SmallVector<mlir::Value>
  toPoints(llvm::ArrayRef<mlir::Value> values,
           llvm::function_ref<double(int64_t point, int64_t k)> factor);

  mlir::Value load(mlir::Value data, Index at);
  void store(mlir::Value vector, mlir::Value data, Index at);
  /// Where `point` of a row of the block is.
  Index pixelsAt(Index point, Index row) {
    return b.add(b.mul(point, cpu::Winograd::distance(plan.blockRows * pitch)),
                 b.mul(row, pitch));
  }
  Index sumsAt(Index point, Index row, int64_t columns) {
    return b.add(
        b.mul(point, cpu::Winograd::distance(plan.blockRows * columns)),
        b.mul(row, columns));
  }
  Accumulators loadSums(const Tile &tile, Index point, Index row);
  void storeSums(const Tile &tile, Index point, Index row,
                 const Accumulators &products);
  /// The columns of a whole tile.
  int64_t tileColumns() const {
    return plan.tile.vectors * plan.target.lanes;
  }

  IndexBuilder b;
  kernel::EpilogueOpInterface op;
  WinogradPlan plan;
  Flat src;
  Output output;
  int64_t points, outputs;
  /// Elements between two rows of transformed pixels.
  int64_t pitch;
  /// Transformed pixels; sums, and half of their transform.
  mlir::Value pixels, sums, lines;

private:
  /// Where tile `number` is: its image, and its first pixel of dst.
  struct Position {
    Index image, y, x;
  };
  Position positionOf(Index number);

  /// Transforms what tile `number` reads, for row `row` of the block.
  void transformPixels(Index number, Index row);
  void transformColumn(const Position &at, Index row, Index column);
  void transformRow(Index row, Index line);
  llvm::SmallVector<mlir::Value> ofData(llvm::ArrayRef<mlir::Value> data);
  /// Runs `body` for the vectors of what is kept of a pixel. The last may go
  /// beyond it.
  void forEachKept(llvm::function_ref<void(Index at)> body);

  /// Transforms the sums of row `row` of the block, tile `number`, and stores
  /// its pixels.
  void transformSums(const Tile &tile, Index number, Index row, Index column);
  llvm::SmallVector<mlir::Value>
  ofProducts(llvm::ArrayRef<mlir::Value> products);

  llvm::SmallVector<int64_t> pads;
  int64_t elements;
  mlir::VectorType keptType;
  Index images, srcSizes[2], dstSizes[2], tileCounts[2];
  mlir::Value padding;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_WINOGRAD_WINOGRADEMITTER_H
