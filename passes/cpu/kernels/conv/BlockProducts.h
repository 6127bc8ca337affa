//===- BlockProducts.h - products with blocks of weights --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_BLOCKPRODUCTS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_BLOCKPRODUCTS_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// The blocks of weights of a panel, as listed in operand `blocks` of
/// `cpu.matmul`.
class PanelBlocks {
public:
  PanelBlocks(IndexBuilder &b, cpu::MatMulOp op, Index panel);

  /// Returns the sums of products of a tile. The rows of `src` start at
  /// `srcAt`, `stride` elements apart. The tile's columns start at `columns.at`
  /// in each block.
  Accumulators multiply(IndexBuilder &b, const TileWeights &columns,
                        mlir::Value src, Index srcAt, Index stride) const;

private:
  SrcRows copyRows(IndexBuilder &b, const Tile &tile,
                   const SrcRows &rows) const;
  Accumulators multiplyBlock(IndexBuilder &b, const TileWeights &weights,
                             const SrcRows &rows,
                             const Accumulators &before) const;

  TargetInfo target;
  /// The number of k in a block, the number of neighbouring k that lie together
  /// in memory, and the number of columns.
  int64_t depth, group, width;
  /// `list` is operand `blocks`. The panel's blocks are [first, end) in it. The
  /// first k of block i is element `positions + i` of the list.
  mlir::Value list;
  Index first, end, positions;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_BLOCKPRODUCTS_H
