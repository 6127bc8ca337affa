//===- ProductKernel.h - the code of a kind of product ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each product of dialects/cpu/Products.inc that is summed step by step has a
// file in this folder, which implements a step of k. Products.cpp has the loops
// over k that all products share.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_PRODUCTKERNEL_H
#define INGOT_PASSES_CPU_PRODUCTS_PRODUCTKERNEL_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// A group of neighbouring k of one row. Its elements are `count` elements from
/// `data[at]` on, followed by zeros. If bytes were copied as int16, `odd` is
/// the distance from the even to the odd bytes.
struct RowGroup {
  mlir::Value data;
  Index at;
  int64_t odd, count;
};

class ProductKernel {
public:
  /// Returns the kernel of a product.
  static const ProductKernel &of(Product product);

  /// Returns the group in every lane, split into parts. The parts are
  /// multiplied in sequence. By default there is one part with the bits of the
  /// whole group.
  virtual llvm::SmallVector<mlir::Value>
  prepareRow(IndexBuilder &b, const Tile &tile, const RowGroup &group) const;

  /// Returns the part of a vector of weights to multiply with part `part` of a
  /// row. By default this is the whole vector.
  virtual mlir::Value prepareColumns(IndexBuilder &b, const Tile &tile,
                                     mlir::Value weights, int64_t part) const;

  /// Multiplies the row by the weights, adds the products of each group, and
  /// adds the result to `sum`.
  virtual mlir::Value step(IndexBuilder &b, const Tile &tile, mlir::Value row,
                           mlir::Value weights, mlir::Value sum) const;

  /// Returns the zeros with which the sums of a block start.
  virtual Accumulators startBlock(IndexBuilder &b, const Tile &tile) const;

  /// Adds the sums of a block, which have a narrower type, to `sums`.
  virtual Accumulators finishBlock(IndexBuilder &b, const Tile &tile,
                                   const SrcRows &rows,
                                   const Accumulators &block,
                                   const Accumulators &sums) const;

  /// Adds the products of `count` elements of group `k` to `sums`.
  virtual void multiplyGroup(IndexBuilder &b, const TileWeights &weights,
                             const SrcRows &rows, mlir::Value k, int64_t count,
                             llvm::MutableArrayRef<mlir::Value> sums) const;

  /// Adds the products of `depth` elements of all rows to `start`. By default
  /// it reads the rows in place.
  virtual Accumulators multiplyRows(IndexBuilder &b, const TileWeights &weights,
                                    const SrcRows &rows, int64_t depth,
                                    const Accumulators &start,
                                    const NextWeights &next) const;

protected:
  ProductKernel() = default;
  ~ProductKernel() = default;
};

/// The base of products with one float in a lane.
class FloatKernel : public ProductKernel {
public:
  llvm::SmallVector<mlir::Value>
  prepareRow(IndexBuilder &b, const Tile &tile,
             const RowGroup &group) const override;
  mlir::Value step(IndexBuilder &b, const Tile &tile, mlir::Value row,
                   mlir::Value weights, mlir::Value sum) const override;

protected:
  ~FloatKernel() = default;
};

#define INGOT_PRODUCT(NAME, ...) const ProductKernel &NAME##Kernel();
#include "dialects/cpu/Products.inc"

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_PRODUCTKERNEL_H
