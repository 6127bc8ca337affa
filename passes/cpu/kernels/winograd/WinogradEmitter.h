//===- WinogradEmitter.h - code of Winograd convolutions --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Winograd convolutions:
//
//     for block of tiles of m x m pixels
//       for tile, point: transform the pixels that it reads, all channels
//       for column tile: its weights go through the caches once
//         for point, row tile of the block
//           for k over channels:
//             sums[point, tile] += pixels[point, tile, k] * weights[k, column]
//         for tile: transform the sums into m x m pixels, epilogue, store
//
// Both transforms handle the columns of a tile first, and then its rows, over
// vectors of channels. The stack holds the transformed pixels of a block and
// the sums of a column tile, and the second-level cache keeps them.
// WinogradToVector.cpp multiplies f32 by weights that the compiler has
// transformed. ConvWinograd.cpp multiplies int8.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_WINOGRAD_WINOGRADEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_WINOGRAD_WINOGRADEMITTER_H

#include "passes/cpu/kernels/Kernels.h"

namespace ingot::cpu {

/// Emits one task. Stored elements have four bytes: an f32, or a pair of int16.
class WinogradEmitter {
public:
  /// The pixels of src. Each point stores `elements` elements of type `kept` of
  /// a pixel.
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
  /// A part of a pixel that is loaded at once, and the offset of its transform.
  struct ChannelSlice {
    mlir::Value vector;
    Index to;
  };

  /// Runs `body` for all channels of a pixel. `body` gets a function that loads
  /// some channels of the pixel at `data[at]`.
  using LoadFn = llvm::function_ref<llvm::SmallVector<ChannelSlice>(
      mlir::Value data, Index at)>;
  virtual void
  forEachLoad(llvm::function_ref<void(LoadFn load)> body) = 0;
  /// Fills a pixel in the padding; returns its buffer.
  virtual mlir::Value makePadding() = 0;
  /// Converts stored elements to the type on which transforms compute; `pack`
  /// does the reverse.
  virtual mlir::Value unpack(mlir::Value kept) { return kept; }
  virtual mlir::Value pack(mlir::Value numbers) { return numbers; }
  /// Multiplies the block's pixels by the weights of a column tile.
  virtual void multiply(const Tile &tile, Index columnTile,
                        Index rowTiles) = 0;
  /// Converts a transformed sum to the type of the result.
  virtual mlir::Value finish(mlir::Value sum) { return sum; }

  /// Returns the sum of `factor(i) * values[i]` over all i. Factors may be 0.
  mlir::Value combine(llvm::ArrayRef<mlir::Value> values,
                      llvm::function_ref<double(int64_t)> factor);
  /// Evaluates a polynomial at the points of a line. The first point is 0, the
  /// last one is infinity. The values at the other points come in pairs: the
  /// even part of the polynomial plus and minus the odd part. `factor(point,
  /// k)` is the factor of value k.
  llvm::SmallVector<mlir::Value>
  toPoints(llvm::ArrayRef<mlir::Value> values,
           llvm::function_ref<double(int64_t point, int64_t k)> factor);

  mlir::Value load(mlir::Value data, Index at);
  void store(mlir::Value vector, mlir::Value data, Index at);
  /// Returns the offset of `point` of a row of the block.
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
  /// Returns the number of columns of a whole tile.
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
  /// Buffers of transformed pixels, of sums, and of half-transformed sums.
  mlir::Value pixels, sums, lines;

private:
  /// The position of a tile: its image, and its first pixel of dst.
  struct Position {
    Index image, y, x;
  };
  Position positionOf(Index number);

  /// Transforms the pixels of tile `number` into row `row` of the block.
  void transformPixels(Index number, Index row);
  void transformColumn(const Position &at, Index row, Index column);
  void transformRow(Index row, Index line);
  llvm::SmallVector<mlir::Value> ofData(llvm::ArrayRef<mlir::Value> data);
  /// Runs `body` for the vectors of the stored elements of a pixel. The last
  /// vector may end behind these elements.
  void forEachKept(llvm::function_ref<void(Index at)> body);

  /// Transforms the sums of row `row` of the block, which is tile `number`, and
  /// stores its pixels.
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
