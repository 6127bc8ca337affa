//===- DepthwiseKernel.h - data of a depthwise convolution ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEKERNEL_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEKERNEL_H

#include "dialects/cpu/GroupsOfFour.h"
#include "passes/cpu/kernels/Kernels.h"
#include "passes/cpu/kernels/rows/PixelTiles.h"
#include "passes/cpu/products/ByteBlocks.h"
#include "passes/cpu/schedule/ChooseSchedule.h"

namespace ingot::cpu {

/// A tile of a row of open size. Only a run knows which pixels its taps meet.
struct BorderTile {
  /// The number of pixels of dst within the row.
  Index count;
  /// Data of each pixel of src, counted from tap 0 of the first pixel. `within`
  /// is a mask that is true if the pixel exists. `nearest` is the distance from
  /// tap 0 to the nearest pixel that exists.
  llvm::SmallVector<mlir::Value> within;
  llvm::SmallVector<Index> nearest;
};

/// The rows of src that a row of dst reads, for int8.
struct SourceRows {
  /// Data of each tap of the outer dimensions. `starts` is the offset in src of
  /// the row under the tap, or of the nearest row if there is none. `areThere`
  /// is true if there is a row; null if there always is.
  llvm::SmallVector<Index> starts;
  llvm::SmallVector<mlir::Value> areThere;
};

/// The position of a tile: its pixels in a row of dst, and its first channel.
/// If the tile is at an end of a row of open size, `border` has the pixels that
/// exist, as values of the run.
struct TilePosition {
  const PixelTile &pixels;
  Index firstPixel, channel;
  llvm::ArrayRef<Index> row;
  const BorderTile *border = nullptr;

  TilePosition withChannel(Index other) const {
    return {pixels, firstPixel, other, row, border};
  }
  /// Returns the coordinates in dst of the first channel of a pixel of the
  /// tile.
  llvm::SmallVector<Index> coordinates(IndexBuilder &b, Index pixel) const;
};

/// The sizes of a depthwise convolution, and loads and stores that all products
/// share.
struct DepthwiseKernel {
  DepthwiseKernel(mlir::OpBuilder &builder, cpu::DepthwiseConvOp op);

  /// Returns true if int8 are multiplied as integers: in groups of four, or in
  /// pairs of int16.
  bool readsInt8() const {
    return isGroupsOfFour() || plan.tile.product == Product::int8Wide;
  }
  bool isGroupsOfFour() const { return plan.tile.product == Product::int8Dot; }
  int64_t columns() const { return plan.tile.vectors * plan.target.lanes; }

  /// Returns true if the last tile of channels is a whole tile that overlaps
  /// the previous tile.
  bool overlapsChannels();
  /// Calls `body` for the tiles of channels [firstTile, endTile), each of
  /// `rows` pixels. `body` gets the first channel and the tile.
  void forEachChannelTile(
      Index firstTile, Index endTile, int64_t rows,
      llvm::function_ref<void(Index channel, const Tile &tile)> body);
  BorderTile borderAt(int64_t pixels, Index firstPixel, Index count);

  void storeBorder(const Tile &tile, const Accumulators &sums,
                   const TilePosition &where);
  /// Returns true if the sums of a whole tile are stored as soon as they are
  /// computed.
  bool storesByPixel(const Tile &tile);
  /// Stores the sums of a tile of int8 in blocks.
  void storeWaiting(const BlockStore &store, const Tile &tile,
                    const Accumulators &sums, const TilePosition &where);

  IndexBuilder b;
  cpu::DepthwiseConvOp op;
  DepthwisePlan plan;
  Flat src, weights;
  Output output;
  int64_t outer;
  WindowTiling window;
  /// Data for int8: the store of whole blocks, and the rows that tiles read.
  std::optional<BlockStore> blocks;
  SourceRows sources;

private:
  /// Returns a buffer for a tile's sums.
  mlir::Value waitingSums();

  mlir::Value waiting;
};

/// The base class of each part of a depthwise convolution's code. It gives
/// short names to the members of the kernel.
struct DepthwiseEmitterBase {
  explicit DepthwiseEmitterBase(DepthwiseKernel &kernel)
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
  const WindowTiling &window;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEKERNEL_H
