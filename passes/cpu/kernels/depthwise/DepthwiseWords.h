//===- DepthwiseWords.h - single channels in groups of taps -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEWORDS_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEWORDS_H

#include "passes/cpu/kernels/depthwise/DepthwiseFloats.h"

#include <vector>

namespace ingot::cpu {

/// Bytes in groups: pairs of words, or fours of bytes. A tile is a block of
/// vectors; the last one, if it is none, other blocks, which may overlap, and
/// what they leave of f32.
struct DepthwiseWords : DepthwisePart {
  DepthwiseWords(DepthwiseKernel &kernel, DepthwiseFloats &floats)
      : DepthwisePart(kernel), floats(floats) {
    findLastBlocks();
  }

  void prepare(Index firstTile, Index endTile);
  void maskWeights();
  void emitRow(llvm::ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitTile(const Tile &tile, const PixelPlace &where);

  /// The taps of a group.
  int64_t groupTaps() const {
    return kernel.isFours() ? cpu::ByteFours::kTaps : 2;
  }
  /// The rows of taps that are grouped above each other: all but a single last
  /// one.
  int64_t rowsAbove() const;
  /// The groups of taps that a vector is multiplied with, and the vectors of
  /// i32 that are prepared for one.
  int64_t groupsAbove() const;
  int64_t groupsAlong() const;
  int64_t carriedPixels() const;
  int64_t preparedVectors();

  /// Weights in such groups, of `numPlaces` channels: those of whole tiles
  /// from `firstWords` on, and those of the last one. Then the same of a row of
  /// dst for which rows of src are missing; where those of the row at hand
  /// start.
  mlir::Value wordWeights;
  int64_t numPlaces = 0;
  Index firstWords, endWords, weightsOfRow;
  /// The groups of rows, and the single one behind, that the row at hand
  /// multiplies.
  int64_t firstGroup = 0, endGroup = 0;

private:
  void findLastBlocks();
  void prepareWeights(const ByteBlock &block, Index channel, Index place);
  mlir::Value takeZeroPointOff(mlir::Value weights, mlir::Value sum);
  void emitRowOfGroups(llvm::ArrayRef<Index> row, Index firstTile,
                       Index endTile);
  /// Hands all blocks of a tile of channels to `emit`: the first channel and
  /// its place in the scratch.
  void
  forEachBlock(const Tile &tile, Index channel,
               llvm::function_ref<void(const ByteBlock &block, Index channel,
                                       Index place, const BlockStore &store)>
                   emit);

  DepthwiseFloats &floats;
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

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEWORDS_H
