//===- DepthwiseEmitter.h - code of depthwise convolutions ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEEMITTER_H

#include "passes/cpu/kernels/depthwise/DepthwiseInt8.h"

namespace ingot::cpu {

/// Emits one task: the loops over rows, pixels and channels.
/// DepthwiseOpenRows.cpp has the loops for rows of open size.
struct DepthwiseEmitter {
  DepthwiseEmitter(mlir::OpBuilder &builder, cpu::DepthwiseConvOp op);

  void emit(mlir::Value task);

private:
  llvm::SmallVector<Index> coordinatesOfRow(Index row);
  void emitRows(const TaskRange &range);
  void emitRow(llvm::ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitOpenRow(llvm::ArrayRef<Index> row, Index firstTile, Index endTile);
  void emitColumns(const TilePosition &where, Index done, Index firstTile,
                   Index endTile);
  void emitTile(const Tile &tile, const TilePosition &where);

  void emitBytes(const TaskRange &range);
  void emitEmpty(const TaskRange &range);
  void prepareBlock(Index firstTile, Index endTile);
  void findSources(llvm::ArrayRef<Index> row);

  DepthwiseKernel kernel;
  IndexBuilder &b;
  const WindowTiling &window;
  DepthwiseFloats floats;
  std::optional<DepthwiseInt8> words;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_DEPTHWISE_DEPTHWISEEMITTER_H
