//===- SignProducts.h - sums of products of signs ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See dialects/cpu/Signs.h for the bits.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_SIGNPRODUCTS_H
#define INGOT_PASSES_CPU_PRODUCTS_SIGNPRODUCTS_H

#include "dialects/cpu/Signs.h"
#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// Takes what differs off sums of products, as if all were 1: where `words`
/// words of the rows, each from its address on, differ from those of the
/// weights. Two such bits are taken off at a
/// time; behind all sums come the bits that wait for another.
Accumulators countSigns(IndexBuilder &b, const TileWeights &weights,
                        const SrcRows &rows, int64_t words,
                        const Accumulators &start);

/// Counts the signs of u (0) or of v (1).
using CountSigns = llvm::function_ref<Accumulators(int64_t plane,
                                                   const Accumulators &start)>;

/// The sums of products of rows, of which each sums up `all`. `zeros`, an i32,
/// is 0 if u and v are the same; null if they always are.
Accumulators sumSigns(IndexBuilder &b, const Tile &tile, mlir::Value zeros,
                      llvm::ArrayRef<Index> all, CountSigns count);

/// Rows of a matrix from `src[first]` on, `stride` words apart, of so many
/// signs each.
struct SignRows {
  const Flat &src;
  Index first, stride;
  int64_t signs;
};
Accumulators sumSigns(IndexBuilder &b, const TileWeights &weights,
                      const SignRows &rows);

/// Joins word `data[at]` to `zeros`.
mlir::Value joinZeros(IndexBuilder &b, mlir::Value zeros, mlir::Value data,
                      Index at);
mlir::Value noZeros(IndexBuilder &b);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_SIGNPRODUCTS_H
