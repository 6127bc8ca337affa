//===- DepthwiseKernel.h - what single channels share -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEKERNEL_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEKERNEL_H

#include "dialects/cpu/ByteFours.h"
#include "passes/cpu/kernels/Kernels.h"
#include "passes/cpu/kernels/rows/PixelTiles.h"
#include "passes/cpu/products/ByteBlocks.h"
#include "passes/cpu/schedule/ChooseSchedule.h"

namespace ingot::cpu {

/// A tile of a row of open size: which pixels its taps meet, only a run knows.
struct BorderTile {
  /// The pixels of dst within the row.
  Index count;
  /// For each pixel of src from tap 0 of the first one on: a mask that is true
  /// if it exists, and the distance from tap 0 to the nearest one that does.
  llvm::SmallVector<mlir::Value> within;
  llvm::SmallVector<Index> nearest;
};

/// The rows of src that a row of dst reads, by bytes.
struct SourceRows {
  /// For each tap of the outer dimensions, where the row that it meets starts
  /// in src, the nearest one if there is none; and whether there is one, null
  /// if there always is.
  llvm::SmallVector<Index> starts;
  llvm::SmallVector<mlir::Value> areThere;
  /// For each four of these taps, the bits of weights whose rows are there, in
  /// every lane; null if all are, wherever the row is.
  llvm::SmallVector<mlir::Value> masks;
};

/// The place of a tile: its pixels of a row of dst and its first channel. At
/// the end of a row of open size, a run finds which pixels exist.
struct PixelPlace {
  const PixelTile &pixels;
  Index firstPixel, channel;
  llvm::ArrayRef<Index> row;
  const BorderTile *border = nullptr;

  PixelPlace withChannel(Index other) const {
    return {pixels, firstPixel, other, row, border};
  }
  /// Returns the place in dst of the first channel of a pixel of the tile.
  llvm::SmallVector<Index> coordinates(IndexBuilder &b, Index pixel) const;
};

/// Sizes of a convolution of single channels, and what its tiles read and store
/// whatever multiplies them.
struct DepthwiseKernel {
  DepthwiseKernel(mlir::OpBuilder &builder, cpu::DepthwiseConvOp op);

  /// Returns whether bytes are multiplied as such, in whichever groups.
  bool isBytes() const { return isDot() || isWords(); }
  /// In fours, by vectors of 512 bits.
  bool isDot() const { return isFours() && multipliesBlocks(plan.target); }
  /// In pairs of words, or in fours, by shorter vectors.
  bool isWords() const {
    return plan.tile.product == Product::int8Wide || (isFours() && !isDot());
  }
  bool isFours() const { return plan.tile.product == Product::int8Dot; }
  int64_t columns() const { return plan.tile.vectors * plan.target.lanes; }

  /// Returns whether the last tile of channels is as whole as the others, and
  /// begins within the one before.
  bool overlapsChannels();
  /// Hands the tiles of channels [firstTile, endTile), of `rows` pixels, to
  /// `body`: the first channel, and what of the tile there is.
  void forEachChannelTile(
      Index firstTile, Index endTile, int64_t rows,
      llvm::function_ref<void(Index channel, const Tile &tile)> body);
  BorderTile borderAt(int64_t pixels, Index firstPixel, Index count);

  void storeBorder(const Tile &tile, const Accumulators &sums,
                   const PixelPlace &where);
  /// Returns whether sums of a whole tile are stored as soon as they are there.
  bool storesByPixel(const Tile &tile);
  /// Stores the sums of a tile of bytes, in blocks.
  void storeWaiting(const BlockStore &store, const Tile &tile,
                    const Accumulators &sums, const PixelPlace &where);

  IndexBuilder b;
  cpu::DepthwiseConvOp op;
  DepthwisePlan plan;
  Flat src, weights;
  Output output;
  int64_t outer;
  ConvWindow window;
  /// For bytes: the store of whole blocks, and the rows that tiles read.
  std::optional<BlockStore> blocks;
  SourceRows sources;

private:
  /// Room for a tile's sums.
  mlir::Value waitingSums();

  mlir::Value waiting;
};

/// The base of each part of the code of single channels: short names for its
/// kernel's members.
struct DepthwisePart {
  explicit DepthwisePart(DepthwiseKernel &kernel)
      : kernel(kernel), b(kernel.b), op(kernel.op), plan(kernel.plan),
        src(kernel.src), weights(kernel.weights), output(kernel.output),
        outer(kernel.outer), window(kernel.window) {}

  DepthwiseKernel &kernel;

protected:
  IndexBuilder &b;
  cpu::DepthwiseConvOp op;
  const DepthwisePlan &plan;
  const Flat &src, &weights;
  const Output &output;
  const int64_t outer;
  const ConvWindow &window;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEKERNEL_H
