//===- DepthwiseInt8.h - depthwise int8 in groups of taps -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEINT8_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEINT8_H

#include "passes/cpu/kernels/depthwise/DepthwiseColumns.h"
#include "passes/cpu/kernels/depthwise/DepthwiseFloats.h"

#include <optional>
#include <vector>

namespace ingot::cpu {

/// Products of int8 in groups: pairs of int16, or four int8. A tile is a block
/// of vectors. A last, partial tile is split into smaller blocks, which may
/// overlap. The remaining channels are multiplied as f32.
struct DepthwiseInt8 : DepthwiseEmitterBase {
  DepthwiseInt8(DepthwiseKernel &kernel, DepthwiseFloats &floats)
      : DepthwiseEmitterBase(kernel), floats(floats) {
    findLastBlocks();
    if (!window.dstSizes[window.inner()].value && !carriesSums())
      columns.emplace(kernel, *this);
  }

  void prepare(Index firstTile, Index endTile);
  void maskWeights();
  void emitRow(llvm::ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitTile(const Tile &tile, const TilePosition &where);

  /// Returns the number of taps of a group.
  int64_t groupTaps() const {
    return kernel.isGroupsOfFour() ? cpu::GroupsOfFour::kTaps : 2;
  }
  /// Returns the number of rows of taps that are grouped above each other: all
  /// rows except a single last one.
  int64_t rowsAbove() const;
  /// Numbers for a vector of channels: groups above each other, groups along a
  /// row, carried pixels, and prepared vectors of i32.
  int64_t groupsAbove() const;
  int64_t groupsAlong() const;
  int64_t carriedPixels() const;
  int64_t preparedVectors() const;

  /// The weights of `numPlaces` channels, in groups. The weights of whole
  /// tiles, from channel `firstWords` on, come before those of the last tile. A
  /// second copy follows, for rows of dst with missing rows of src.
  /// `weightsOfRow` is the offset of the copy that the current row uses.
  mlir::Value int16Weights;
  int64_t numPlaces = 0;
  Index firstWords, endWords, weightsOfRow;

private:
  /// Returns true if registers hold the sums of incomplete pixels, but not all
  /// weights.
  bool carriesSums() const;
  void emitCarrying(const BlockOfRow &part);
  void findLastBlocks();
  void prepareWeights(const ByteBlock &block, Index channel, Index place);
  mlir::Value takeZeroPointOff(mlir::Value weights, mlir::Value sum);
  /// Calls `emit` for all blocks of a tile of channels, with the first channel
  /// and its index in the scratch buffer.
  void
  forEachBlock(const Tile &tile, Index channel,
               llvm::function_ref<void(const ByteBlock &block, Index channel,
                                       Index place, const BlockStore &store)>
                   emit);

  DepthwiseFloats &floats;
  /// The code of rows whose size is known.
  std::optional<DepthwiseColumns> columns;
  /// A block of the last tile.
  struct LastBlock {
    int64_t channel, vectors, place;
    BlockStore store;
  };
  std::vector<LastBlock> lastBlocks;
  /// The first channel behind all blocks.
  int64_t endBlocks = 0;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEINT8_H
