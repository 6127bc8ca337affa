//===- DepthwiseEmitter.h - code of single channels -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DepthwiseToVector.cpp has the loops and sums of f32, DepthwiseDot.cpp those
// of bytes in fours by vectors of 512 bits, DepthwiseWords.cpp of bytes in
// pairs of words, or in fours, by shorter vectors.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEEMITTER_H

#include "dialects/cpu/ByteFours.h"
#include "passes/cpu/kernels/Kernels.h"
#include "passes/cpu/kernels/rows/PixelTiles.h"
#include "passes/cpu/products/ByteBlocks.h"
#include "passes/cpu/schedule/ChooseSchedule.h"

#include <vector>

namespace ingot::cpu {

/// A tile of a row of open size: which pixels its taps meet, only a run knows.
struct BorderTile {
  /// Of dst, those within the row.
  Index count;
  /// Of src, from tap 0 of the first pixel on: whether a pixel is there, in
  /// every lane, and how many pixels behind tap 0 the nearest is that is there.
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

struct DepthwiseEmitter {
  DepthwiseEmitter(mlir::OpBuilder &builder, cpu::DepthwiseConvOp op);

  void emit(mlir::Value task);
  void emitRows(const TaskRange &range);
  void emitRow(llvm::ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitOpenRow(llvm::ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitColumns(const PixelTile &pixels, Index firstPixel, Index done,
                   llvm::ArrayRef<Index> row, Index firstTile, Index endTile,
                   const BorderTile *border);
  /// Whether the last tile of channels is as whole as the others, and begins
  /// within the one before.
  bool overlapsChannels();
  /// Hands the tiles of channels [firstTile, endTile), of `rows` pixels, to
  /// `body`: the first channel, and what of the tile there is.
  void forEachChannelTile(
      Index firstTile, Index endTile, int64_t rows,
      llvm::function_ref<void(Index channel, const Tile &tile)> body);
  void emitTile(const Tile &tile, const PixelTile &pixels, Index firstPixel,
                Index channel, llvm::ArrayRef<Index> row,
                const BorderTile *border = nullptr);
  void storeBorder(const Tile &tile, const Accumulators &sums, Index firstPixel,
                   Index channel, llvm::ArrayRef<Index> row, Index count);
  BorderTile borderAt(int64_t pixels, Index firstPixel, Index count);
  Accumulators sumBorder(const Tile &tile, const PixelTile &pixels,
                         Index firstPixel, Index channel,
                         llvm::ArrayRef<Index> row, const BorderTile &border);
  /// Room for a tile's sums.
  mlir::Value waitingSums();
  mlir::Value floatZeros(mlir::Type type);
  mlir::Value toFloats(mlir::Value pixel);
  mlir::Value memberOfGroups(mlir::Value pixel, int64_t member, int64_t size);
  Accumulators sumTile(const Tile &tile, const PixelTile &pixels,
                       Index firstPixel, Index channel,
                       llvm::ArrayRef<Index> row, const BorderTile *border);
  Accumulators sumRow(const Tile &tile, const PixelTile &pixels,
                      llvm::ArrayRef<Index> srcAt,
                      llvm::ArrayRef<Index> weightsAt,
                      const Accumulators &start, const BorderTile *border);

  // Bytes, in whichever groups.
  bool isBytes() const { return isDot() || isWords(); }
  void emitBytes(const TaskRange &range);
  void emitEmpty(const TaskRange &range);
  void prepareBlock(Index firstTile, Index endTile);
  void findSources(llvm::ArrayRef<Index> row);
  /// Whether sums of a whole tile are stored as soon as they are there.
  bool storesByPixel(const Tile &tile);
  /// Stores what waits of a tile of bytes, in blocks.
  void storeWaiting(const BlockStore &store, const Tile &tile,
                    const Accumulators &sums, Index firstPixel, Index channel,
                    llvm::ArrayRef<Index> row, const BorderTile *border);

  // Bytes in fours, 16 lanes. A tile is one vector, of up to `lanes` channels
  // in their order, or a whole block of four vectors, as unpacking leaves them.
  bool isDot() const { return isFours() && multipliesBlocks(plan.target); }
  int64_t columns() const { return plan.tile.vectors * plan.target.lanes; }
  void prepareFours(Index firstTile, Index endTile);
  void findMasks();
  void emitDotTile(const Tile &tile, const PixelTile &pixels, Index firstPixel,
                   Index channel, llvm::ArrayRef<Index> row,
                   const BorderTile *border);
  void emitDotVector(const Tile &tile, const PixelTile &pixels,
                     Index firstPixel, Index channel, llvm::ArrayRef<Index> row,
                     const BorderTile *border);
  void emitDotBlock(const Tile &tile, const PixelTile &pixels, Index firstPixel,
                    Index channel, llvm::ArrayRef<Index> row,
                    const BorderTile *border);

  // Bytes in groups: pairs of words, or fours of bytes. A tile is a block of
  // vectors; the last one, if it is none, other blocks, which may overlap, and
  // what they leave of f32.
  bool isWords() const {
    return plan.tile.product == Product::int8Wide || (isFours() && !isDot());
  }
  bool isFours() const { return plan.tile.product == Product::int8Dot; }
  /// The taps of a group.
  int64_t groupTaps() const { return isFours() ? cpu::ByteFours::kTaps : 2; }
  /// The rows of taps that are grouped above each other: all but a single last
  /// one.
  int64_t rowsAbove() const;
  /// The groups of taps that a vector is multiplied with, and the vectors of
  /// i32 that are prepared for one.
  int64_t groupsAbove() const;
  int64_t groupsAlong() const;
  int64_t carriedPixels() const;
  int64_t preparedVectors();
  void findLastBlocks();
  void prepareWords(Index firstTile, Index endTile);
  void prepareWeights(const ByteBlock &block, Index channel, Index place);
  mlir::Value takeZeroPointOff(mlir::Value weights, mlir::Value sum);
  void maskWeights();
  void emitWordRow(llvm::ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitWordRowOfGroups(llvm::ArrayRef<Index> row, Index firstTile,
                           Index endTile);
  void emitWordTile(const Tile &tile, const PixelTile &pixels, Index firstPixel,
                    Index channel, llvm::ArrayRef<Index> row,
                    const BorderTile *border);
  /// Hands all blocks of a tile of channels to `emit`: the first channel and
  /// its place in the scratch.
  void forEachWordBlock(
      const Tile &tile, Index channel,
      llvm::function_ref<void(const ByteBlock &block, Index channel,
                              Index place, const BlockStore &store)>
          emit);
  void emitFloatTile(const Tile &tile, const PixelTile &pixels,
                     Index firstPixel, Index channel,
                     llvm::ArrayRef<Index> row, const BorderTile *border);

  IndexBuilder b;
  cpu::DepthwiseConvOp op;
  DepthwisePlan plan;
  Flat src, weights;
  Output output;
  int64_t outer;
  ConvWindow window;
  /// Sums of a tile at an end of a row.
  mlir::Value waiting;
  std::optional<Flat> fours;
  std::optional<BlockStore> blocks;
  SourceRows sources;
  /// A block of the last tile.
  struct LastBlock {
    int64_t channel, vectors, place;
    BlockStore store;
  };
  std::vector<LastBlock> lastBlocks;
  /// The first channel behind all blocks.
  int64_t endBlocks = 0;
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
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEEMITTER_H
