//===- DepthwiseColumns.h - depthwise int8 by columns -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISECOLUMNS_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISECOLUMNS_H

#include "passes/cpu/kernels/depthwise/DepthwiseKernel.h"

namespace ingot::cpu {

struct DepthwiseInt8;

/// A block of channels of a row of dst.
struct BlockOfRow {
  ByteBlock block;
  llvm::ArrayRef<Index> row;
  /// The first channel, and its index in the prepared weights.
  Index channel, place;
  const BlockStore &store;
};

/// Computes rows of int8 whose size is known. Unpacks the columns of src that a
/// part of a row reads, and multiplies them with all weights. A part is at most
/// `pixels` pixels of dst.
struct DepthwiseColumns : DepthwiseEmitterBase {
  DepthwiseColumns(DepthwiseKernel &kernel, const DepthwiseInt8 &words);

  /// Fills columns in the padding, if all rows have them in one place.
  void prepare();
  void emitRow(const BlockOfRow &part);

private:
  /// The columns [begin, end) of a part that src has.
  struct Columns {
    Index begin, end;
  };
  Columns columnsOf(Index firstPixel);
  void fill(const Columns &within);
  /// Loads and unpacks a column of all groups of rows above each other. `at` is
  /// the offset of its pixel in a row of src.
  llvm::SmallVector<mlir::Value> unpackColumn(const BlockOfRow &part, Index at);
  void unpack(const BlockOfRow &part, Index firstPixel);
  void unpackAlong(const BlockOfRow &part, Index firstPixel);
  llvm::SmallVector<mlir::Value> unpackBytes(const BlockOfRow &part,
                                             llvm::ArrayRef<mlir::Value> bytes);
  void storeColumn(const BlockOfRow &part, llvm::ArrayRef<mlir::Value> vectors,
                   Index column, int64_t group);
  mlir::Value splatZeroPoint(int64_t lanes);

  /// Computes a row whose columns and weights stay in registers.
  void emitSliding(const BlockOfRow &part);
  /// Computes a pixel from its columns.
  void emitPixel(const BlockOfRow &part, Index pixel,
                 llvm::ArrayRef<mlir::Value> window);
  mlir::Value multiplyAdd(mlir::Value column, mlir::Value factors,
                          mlir::Value sum);
  mlir::Value startOf(const BlockOfRow &part, int64_t v);

  /// Steps multiply a group of taps each. The weights of step `step` are vector
  /// `step` of the prepared ones. `column` is its offset in the columns.
  struct Step {
    Index weights, column;
  };
  Step stepAbove(Index group, Index tap);
  Step stepAlong(Index group);
  mlir::Value loadPrepared(const BlockOfRow &part, Index vector, int64_t v);
  llvm::SmallVector<mlir::Value> keepWeights(const BlockOfRow &part);
  Accumulators add(const BlockOfRow &part, const Step &step, Index column,
                   const Accumulators &sums);
  Accumulators sum(const BlockOfRow &part, Index column);
  void emitPixels(const BlockOfRow &part, Index firstPixel, Index done);
  void storePixels(const BlockOfRow &part, Index firstPixel, Index done,
                   const Accumulators &sums);

  const DepthwiseInt8 &words;
  mlir::Value columns;
  int64_t stride, dilation, width;
  /// Groups of rows, and the words of a column.
  int64_t groups, columnWords;
  /// Pixels of a part, pixels that are summed at once, parts of a row, and
  /// columns of a part.
  int64_t pixels, atOnce, parts, span;
  /// Weights in registers, vectors of each step, if they fit.
  bool keepsWeights;
  /// Columns that neighbouring pixels share, and the pixels
  /// [firstWithin, endWithin) whose other columns are all in src.
  int64_t shared, firstWithin, endWithin;
  bool slides;
  llvm::SmallVector<mlir::Value> kept;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISECOLUMNS_H
