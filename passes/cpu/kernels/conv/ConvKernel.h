//===- ConvKernel.h - shared data of a convolution --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a convolution's code, which share a ConvKernel. ConvColumns
// prepares weights. ConvSums, ConvIm2Col and ConvGatheredPixels sum up the taps
// of a tile's pixels. ConvAcrossRows, ConvOpenRows and ConvEmitter determine
// the order of tiles.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVKERNEL_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVKERNEL_H

#include "passes/cpu/kernels/Kernels.h"
#include "passes/cpu/kernels/rows/PixelTiles.h"

#include "mlir/IR/TypeUtilities.h"

namespace ingot::cpu {

/// A column tile of a group of channels.
struct ColumnAt {
  Index group, tile;
};

/// Pixels of a row of dst: the coordinates of the row, and the first pixel.
struct PixelsAt {
  llvm::ArrayRef<Index> row;
  Index first;
};

/// The sizes and addresses of a convolution, and loads and stores that do not
/// depend on the order of tiles.
struct ConvKernel {
  ConvKernel(mlir::OpBuilder &builder, cpu::ConvOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), output(b, op),
        channels(src.shape.back() / plan.groups),
        pixelStride(src.strides[src.strides.size() - 2]),
        outer(src.shape.size() - 3), window{op.getStrides(),
                                            op.getPads(),
                                            op.getDilations(),
                                            plan.weights.outer.drop_front(),
                                            spatialSizes(b, op.getSrc()),
                                            spatialSizes(b, op.getDst())} {}

  /// Returns the start of the weights of a column tile.
  llvm::SmallVector<Index> weightsOf(const ColumnAt &columnAt);
  /// Returns the first channel of dst of a column tile.
  Index columnOf(const ColumnAt &columnAt);
  /// Returns the offset in a panel at which the weights of these taps start.
  Index inPanel(llvm::ArrayRef<Index> taps);
  /// Returns the linear index of the taps of the outer dimensions.
  Index numberOf(llvm::ArrayRef<Index> taps);
  /// Returns the number of pixels of a task. The number is dynamic if only a
  /// run knows it.
  int64_t pixelsOfTask() const;
  /// Returns the weights to prefetch in pass `pass` of `passes` over a tile.
  NextWeights nextPanel(const ColumnAt &columnAt, Index pass, Index passes);
  /// Returns true if the taps of a row and their channels are contiguous, both
  /// in src and in the weights.
  bool isContiguous() const;
  /// Returns true if the product can read rows at any address.
  bool readsInPlace(const Tile &tile) const;
  /// Returns the element type of src and of its copies. Weights may be
  /// narrower: f16 is widened as it is read.
  mlir::Type srcElement() const { return mlir::getElementTypeOrSelf(src.data); }
  /// Returns a row for each pixel that has the tap. With a zero point, pixels
  /// without the tap read a pixel of zero points.
  SrcRows rowsOfTap(const Tile &tile, const PixelTile &pixels, int64_t tap,
                    mlir::Value data, Index first, Index stride);
  void forEachPixel(
      llvm::ArrayRef<Index> first, Index count,
      llvm::function_ref<void(Index pixel, llvm::ArrayRef<Index> at)> body);

  /// Returns a buffer that serves as a pixel in the padding. All its elements
  /// are the zero point of src.
  mlir::Value zeroPointPixel();
  /// Returns a tile's compensation for the zero point, a vector for each vector
  /// of the tile. With `row`, it covers the outer taps within src for this row
  /// of dst, else all taps. It is empty without a zero point.
  Accumulators compensationOf(const Tile &tile, const ColumnAt &columnAt,
                              std::optional<llvm::ArrayRef<Index>> row);

  void store(const Tile &tile, const Accumulators &sums,
             const ColumnAt &columnAt, const PixelsAt &pixelsAt);

  IndexBuilder b;
  cpu::ConvOp op;
  ConvPlan plan;
  Flat src, weights;
  Output output;
  /// The number of src channels in a group, and the elements between two pixels
  /// of a row.
  int64_t channels;
  Index pixelStride;
  /// The number of spatial dimensions without the last.
  int64_t outer;
  WindowTiling window;
  /// The original f16 weights, if `weights` are a widened copy.
  std::optional<Flat> packed;

private:
  mlir::Value zeroPoints;
};

/// The base class of each part of a convolution's code. It gives short names to
/// the members of the kernel.
struct ConvEmitterBase {
  explicit ConvEmitterBase(ConvKernel &conv)
      : conv(conv), b(conv.b), op(conv.op), plan(conv.plan), src(conv.src),
        weights(conv.weights), output(conv.output), channels(conv.channels),
        pixelStride(conv.pixelStride), outer(conv.outer), window(conv.window) {}

protected:
  ConvKernel &conv;
  IndexBuilder &b;
  cpu::ConvOp op;
  ConvPlan &plan;
  Flat &src, &weights;
  Output &output;
  const int64_t channels;
  const Index pixelStride;
  const int64_t outer;
  const WindowTiling &window;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVKERNEL_H
