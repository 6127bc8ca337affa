//===- SignProducts.h - sums of products of signs ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of signs that are stored as bits: see dialects/cpu/Signs.h.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_SIGNPRODUCTS_H
#define INGOT_PASSES_CPU_PRODUCTS_SIGNPRODUCTS_H

#include "dialects/cpu/Signs.h"
#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// Subtracts from the sums the bits in which `words` words of each row differ
/// from the weights. `start` holds the sums as if all products were 1. Bits are
/// subtracted in pairs. Bits that still wait for a partner are further
/// accumulators behind all sums.
Accumulators countSigns(IndexBuilder &b, const TileWeights &weights,
                        const SrcRows &rows, int64_t words,
                        const Accumulators &start);

/// Counts the signs of bit plane u (0) or v (1).
using CountSigns = llvm::function_ref<Accumulators(int64_t plane,
                                                   const Accumulators &start)>;

/// Returns the sums of products of rows. `all` holds the number of products in
/// each row's sum. `zeros`, an i32, is 0 at run time if planes u and v are
/// equal. It is null if they are always equal.
Accumulators sumSigns(IndexBuilder &b, const Tile &tile, mlir::Value zeros,
                      llvm::ArrayRef<Index> all, CountSigns count);

/// Rows of a matrix from `src[first]` on, `stride` words apart. Each has
/// `signs` signs.
struct SignRows {
  const Flat &src;
  Index first, stride;
  int64_t signs;
};
Accumulators sumSigns(IndexBuilder &b, const TileWeights &weights,
                      const SignRows &rows);

/// Combines word `data[at]` into `zeros`.
mlir::Value joinZeros(IndexBuilder &b, mlir::Value zeros, mlir::Value data,
                      Index at);
mlir::Value noZeros(IndexBuilder &b);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_SIGNPRODUCTS_H
