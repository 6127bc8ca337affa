//===- BlockProducts.h - products with blocks of zeros ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_BLOCKPRODUCTS_H
#define INGOT_PASSES_CPU_KERNELS_CONV_BLOCKPRODUCTS_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// The blocks of weights that a panel has, as `blocks` of `cpu.matmul` lists
/// them.
class PanelBlocks {
public:
  PanelBlocks(IndexBuilder &b, cpu::MatMulOp op, Index panel);

  /// Adds up the products of rows of `src`, the first of which starts at
  /// `srcAt` and which are `stride` elements apart, with the columns that start
  /// at `columns.at` in each block.
  Accumulators multiply(IndexBuilder &b, const TileWeights &columns,
                        mlir::Value src, Index srcAt, Index stride) const;

private:
  SrcRows copyRows(IndexBuilder &b, const Tile &tile,
                   const SrcRows &rows) const;
  Accumulators multiplyBlock(IndexBuilder &b, const TileWeights &weights,
                             const SrcRows &rows,
                             const Accumulators &before) const;

  TargetInfo target;
  /// Of a block: neighbouring k, how many of them lie together, and columns.
  int64_t depth, group, width;
  /// The list, the panel's blocks, and where in it the first k of each starts.
  mlir::Value list;
  Index first, end, positions;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_BLOCKPRODUCTS_H
