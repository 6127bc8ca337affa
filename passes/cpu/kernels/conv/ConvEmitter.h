//===- ConvEmitter.h - code of one convolution ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ConvToVector.cpp has the loops and the sums over src as it is, ConvCopies.cpp
// the sums over copies of its pixels, ConvBlocks.cpp the loops by blocks of
// weights, ConvAcrossRows.cpp those over pixels of any row, ConvZeroPoint.cpp
// what bytes take besides, ConvSigns.cpp the sums of signs.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVEMITTER_H

#include "passes/cpu/kernels/Kernels.h"
#include "passes/cpu/kernels/RowTiling.h"
#include "passes/cpu/kernels/rows/PixelTiles.h"
#include "passes/cpu/products/BytePairs.h"
#include "passes/cpu/products/WidenedWeights.h"

#include "mlir/IR/TypeUtilities.h"

namespace ingot::cpu {

/// Emits one task of a convolution. Of its columns, `columnTile` of `group` are
/// at hand.
struct ConvEmitter {
  ConvEmitter(mlir::OpBuilder &builder, cpu::ConvOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), output(b, op),
        channels(src.shape.back() / plan.groups),
        pixelStride(src.strides[src.strides.size() - 2]),
        outer(src.shape.size() - 3),
        window{op.getStrides(),
               op.getPads(),
               op.getDilations(),
               plan.weights.outer.drop_front(),
               spatialSizes(b, op.getSrc()),
               spatialSizes(b, op.getDst())} {}

  void emit(mlir::Value task);
  void emitColumns(const Tile &tile, Index group, Index columnTile,
                   const TaskRange &range);
  void emitRow(const Tile &tile, Index group, Index columnTile, Index row,
               Index rowInTask);
  void emitTile(const Tile &tile, const PixelTile &pixels, Index firstPixel,
                Index group, Index columnTile, llvm::ArrayRef<Index> row,
                const NextWeights &next);
  Accumulators sumTile(const Tile &tile, const PixelTile &pixels,
                       Index firstPixel, Index group, Index columnTile,
                       llvm::ArrayRef<Index> row, const NextWeights &next);
  /// The same of signs.
  void emitSigns(const Tile &tile, const PixelTile &pixels, Index firstPixel,
                 Index columnTile, llvm::ArrayRef<Index> row);
  void store(const Tile &tile, const Accumulators &sums, Index group,
             Index columnTile, llvm::ArrayRef<Index> row, Index firstPixel);

  /// By blocks of weights that serve all rows of a task.
  void emitBlocks(const Tile &tile, Index group, Index columnTile,
                  const TaskRange &range);

  /// By tiles of one row each, whose size only a run knows.
  bool goesByRows(const Tile &tile);
  void emitOpenRows(const Tile &tile, Index group, Index columnTile,
                    const TaskRange &range);
  /// The first of `count` pixels of a row from pixel `first` on.
  void emitOpenTile(const Tile &tile, llvm::ArrayRef<Index> row, Index first,
                    Index count, Index group, Index columnTile,
                    const NextWeights &next);
  Accumulators sumOpenRow(const Tile &tile, llvm::ArrayRef<Index> srcAt,
                          llvm::ArrayRef<Index> weightsAt,
                          const Accumulators &start, const NextWeights &next);
  void askFor(SrcRows &rows, int64_t r, Index coordinate);

  /// By tiles of pixels that need not be of one row.
  void emitAcrossRows(const Tile &tile, Index group, Index columnTile,
                      const TaskRange &range);
  /// The same for all column tiles, which share copies of few channels.
  void emitFewChannels(
      const Tile &tile, Index group, const TaskRange &range,
      llvm::function_ref<
          void(llvm::function_ref<void(mlir::Value, const Tile &)>)>
          forEachColumn);
  /// The pixels of a tile: the first one's coordinates and number in dst, how
  /// many there are, the tile's number, and whether all of them are of one row,
  /// and their taps along it within src.
  struct PixelRun {
    llvm::SmallVector<Index> first;
    Index pixel, count, number;
    mlir::Value asTheyAre;
  };
  void
  forEachTileAcrossRows(const Tile &tile, const TaskRange &range,
                        llvm::function_ref<void(const PixelRun &run)> body);
  /// How the sums of a tile come about: of pixels as they are, or of any, for
  /// which `prepare` is called before the first column.
  struct PixelSums {
    llvm::function_ref<void(Index rows)> prepare;
    llvm::function_ref<Accumulators(const Tile &tile, Index columnTile)> whole,
        any;
  };
  void emitRun(
      const Tile &tile, const PixelRun &run, Index group, const PixelSums &sums,
      llvm::function_ref<
          void(llvm::function_ref<void(mlir::Value, const Tile &)>)>
          forEachColumn);
  RowTiling tilingOf(const Tile &tile) const;
  void forEachPixel(
      llvm::ArrayRef<Index> first, Index count,
      llvm::function_ref<void(Index pixel, llvm::ArrayRef<Index> at)> body);
  /// Whether rows are multiplied wherever they are.
  bool hasPlainRows(const Tile &tile) const;
  /// By the addresses of pixels, looked for one by one.
  bool findsPixels(const Tile &tile) const;
  Accumulators sumFound(const Tile &tile, Index group, Index columnTile,
                        const NextWeights &next);
  void findOrigins(const Tile &tile, llvm::ArrayRef<Index> first, Index count,
                   Index rows, Index group);
  SrcRows findPixels(const Tile &tile, llvm::ArrayRef<Index> taps,
                     mlir::Value &isAnyWithin);
  /// or by copies of their taps.
  struct CopiedTaps {
    /// Taps along a row: all, which follow each other as their weights do, or
    /// one.
    int64_t taps;
    /// And so many channels of them.
    int64_t channels;
    /// Elements between two taps, and between two pixels.
    int64_t tapPitch, pixelPitch;
    /// Rows of taps, which then follow each other, too, if all are copied at
    /// once; else 0.
    int64_t rows = 0;
  };
  /// Whether whole windows are copied.
  bool copiesWindows(const Tile &tile);
  void prepareCopies(const CopiedTaps &copied);
  CopiedTaps copiedTaps(const Tile &tile);
  Accumulators sumCopies(const Tile &tile, llvm::ArrayRef<Index> first,
                         Index count, Index group, Index columnTile);
  void copyTaps(const CopiedTaps &copied, llvm::ArrayRef<Index> first,
                Index count, Index rows,
                llvm::ArrayRef<Index> outerTaps, Index firstTap, Index channel,
                int64_t size);
  llvm::SmallVector<mlir::Value> masksWithin(Index low, Index high,
                                             int64_t vectors);
  void copyWithin(Index from, Index to, mlir::Value isThere,
                  llvm::ArrayRef<mlir::Value> masks);
  Accumulators sumCopied(const Tile &tile, const CopiedTaps &copied,
                         llvm::ArrayRef<Index> outerTaps, Index panelAt,
                         int64_t depth, const Accumulators &start);
  void storePixels(const Tile &tile, const Accumulators &sums,
                   llvm::ArrayRef<Index> first, Index count, Index group,
                   Index columnTile);
  /// Whether pixels of any row lie one behind the other in dst, and so do those
  /// of what the epilogue reads; a number is then their place.
  bool storesInRow(const Tile &tile);
  void storeInRow(const Tile &tile, const Accumulators &sums,
                  const PixelRun &run, Index group, Index columnTile);

  /// Adds the taps along the row: over src as it is, or
  Accumulators sumRow(const Tile &tile, const PixelTile &pixels,
                      llvm::ArrayRef<Index> srcAt,
                      llvm::ArrayRef<Index> weightsAt,
                      const Accumulators &start, const NextWeights &next);
  /// over a copy of the pixels in f32, or
  Accumulators sumAsFloats(const Tile &tile, const PixelTile &pixels,
                           Index from, Index panelAt,
                           const Accumulators &start);
  /// over a copy of bytes as words, zero points in the padding, or
  Accumulators sumWords(const Tile &tile, const PixelTile &pixels, Index from,
                        Index panelAt, llvm::ArrayRef<Index> taps,
                        const Accumulators &start);
  /// by pairs of bytes, over src or a copy with zero points in the padding, or
  Accumulators sumPairs(const Tile &tile, const PixelTile &pixels, Index from,
                        Index panelAt, llvm::ArrayRef<Index> taps,
                        const Accumulators &start);
  /// by AMX tiles, over the pixels as they are or over a copy with zeros in the
  /// padding.
  Accumulators sumAmx(const Tile &tile, const PixelTile &pixels, Index from,
                      Index panelAt, const Accumulators &start);

  /// The rows of each tap along the row of src; `asOne` if the taps follow each
  /// other, in memory as well. `apart` is how far in data, if all pixels have
  /// all taps.
  struct TapRows {
    bool asOne;
    std::optional<Index> apart;
    llvm::function_ref<SrcRows(int64_t tap)> rowsOf;
  };
  /// Adds the products of `depth` elements of each tap.
  Accumulators sumTaps(const TileWeights &weights, const TapRows &taps,
                       int64_t depth, const Accumulators &start,
                       const NextWeights &next = {});
  /// Copies the pixels of a tile, `pitch` elements apart, from tap 0 of the
  /// first on.
  void copyPadded(const PixelTile &pixels, Index from, int64_t pitch);
  /// Room for a copy, which all tiles share that fit in.
  mlir::Value roomFor(int64_t elements, mlir::Type type);

  /// What bytes without VNNI take for a column tile, once for all rows of a
  /// task: groups sorted, or weights as words.
  void sortPairs(const Tile &tile, Index columnTile);
  void widenWeights(const Tile &tile, Index group, Index columnTile);
  /// Lets all rows of a task share weights of f16 as f32, `terms` of a column.
  /// Those of the taps of a row are widened where they are read first,
  void prepareWidened(const Tile &tile, int64_t terms);
  /// and those from here on once more,
  void clearWidened(Index from);
  Accumulators sumWidened(const TileWeights &weights,
                          llvm::ArrayRef<Index> outerTaps, MultiplyFn multiply);
  /// or all before `body`, which has them in place of the others.
  void withWidened(const Tile &tile, Index group, Index columnTile,
                   llvm::function_ref<void(const Tile &tile)> body);
  /// Pixels of a task; open if a run knows how many.
  int64_t pixelsOfTask() const;
  /// The number of the taps of the outer dimensions.
  Index numberOf(llvm::ArrayRef<Index> taps);
  /// Where the weights of a column tile start.
  llvm::SmallVector<Index> weightsOf(Index group, Index columnTile);
  /// What pass number `pass` of `passes` over the tile's weights prefetches.
  NextWeights nextPanel(Index group, Index columnTile, Index pass,
                        Index passes);
  /// Where the first of these taps is in a panel.
  Index inPanel(llvm::ArrayRef<Index> taps);
  /// The first channel of dst of a column tile.
  Index columnOf(Index group, Index columnTile);
  /// The pixels that have the tap; with a zero point the others are made of it.
  SrcRows rowsOfTap(const Tile &tile, const PixelTile &pixels, int64_t tap,
                 mlir::Value data, Index first, Index stride);
  /// Of src and of its copies. That of weights may be narrower: f16 is widened
  /// as it is read.
  mlir::Type srcElement() const {
    return mlir::getElementTypeOrSelf(src.data);
  }
  /// A pixel in the padding of src with a zero point.
  mlir::Value zeroPointPixel();
  /// What the outer taps within src add to the sums of a row of dst, or all of
  /// them: a vector for each of the tile, none without a zero point.
  Accumulators
  compensationOf(const Tile &tile, Index group, Index columnTile,
                 std::optional<llvm::ArrayRef<Index>> row);
  /// Whether the taps of a row and their channels lie one behind the other, in
  /// src as in the weights.
  bool isContiguous() const;

  IndexBuilder b;
  cpu::ConvOp op;
  ConvPlan plan;
  Flat src, weights;
  Output output;
  /// Of src: those of a group, and elements between two pixels of a row.
  int64_t channels;
  Index pixelStride;
  /// Spatial dimensions but the last.
  int64_t outer;
  ConvWindow window;
  /// Pixels, as they are multiplied, and how many elements there is room for.
  mlir::Value copied;
  int64_t room = 0;
  /// Taps of pixels of any row, or where their tap 0 is.
  mlir::Value copiesOf, origins;
  /// Sums between two blocks of weights.
  mlir::Value waiting;
  mlir::Value zeroPoints;
  std::optional<PairLists> pairs;
  std::optional<WideWeights> wide;
  std::optional<WidenedWeights> widened;
  /// Of each row of taps, whether its weights are there already, the first of
  /// which comes from here.
  mlir::Value areWidened;
  Index widenedFrom;
  /// Where `weights` are widened: as they were before.
  std::optional<Flat> packed;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVEMITTER_H
