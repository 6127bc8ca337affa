//===- PairProducts.h - products of bytes without VNNI ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `vpmaddubsw` adds products of pairs of bytes as int16. `vpmaddwd` by ones and
// an addition then widen the sums. A vector of groups of four thus takes three
// instructions. If a pair might saturate, the second and third byte of its
// group are swapped in rows and weights, which changes the pairs. If pairs
// might still saturate, the bytes are widened first, which takes five
// instructions. Attribute `pairs` of the op records the kind of each group. A
// task sorts the groups of its columns by kind once, so that register tiles
// need no branches.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_PAIRPRODUCTS_H
#define INGOT_PASSES_CPU_PRODUCTS_PAIRPRODUCTS_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// Calls the intrinsic for vectors of 16, 32 or 64 bytes; the result has
/// elements of `bits` bits.
mlir::Value callOfWidth(IndexBuilder &b, llvm::ArrayRef<llvm::StringRef> names,
                        int64_t bits, mlir::ValueRange arguments);

/// Returns 32-bit integers as pairs of int16.
mlir::Value asInt16(IndexBuilder &b, mlir::Value integers);

/// Multiplies int16, and adds the products of each pair.
mlir::Value multiplyPairs(IndexBuilder &b, mlir::Value x, mlir::Value y);

/// Widens the even (`i` = 0) or odd (`i` = 1) signed bytes of a vector to
/// int16.
mlir::Value widenBytes(IndexBuilder &b, mlir::Value bytes, int64_t i);

/// Multiplies unsigned bytes `x` by signed bytes `y`, and adds the products of
/// each pair. The sums must fit int16.
mlir::Value multiplyBytes(IndexBuilder &b, mlir::Value x, mlir::Value y);

/// Multiplies int16, adds the products of each pair, and adds the result to
/// `sum`.
mlir::Value addInt16(IndexBuilder &b, mlir::Value row, mlir::Value weights,
                     mlir::Value sum);

/// Multiplies bytes, adds the products of each group of four, and adds the
/// result to `sum`. The bytes of `row` are unsigned. The sums of pairs must fit
/// int16.
mlir::Value addPairs(IndexBuilder &b, mlir::Value row, mlir::Value weights,
                     mlir::Value sum);

/// Weights of a column tile, widened to int16 on the stack once for many rows.
struct Int16Weights {
  Int16Weights(IndexBuilder &b, int64_t groups, int64_t columns);

  /// Returns true if widening all weights before the first row pays. This is
  /// the case if the weights are few and a task has many rows.
  static bool pays(const TargetInfo &target, int64_t groups, int64_t columns,
                   int64_t rows);

  /// Widens the weights of a column tile.
  void fill(IndexBuilder &b, const TileWeights &weights) const;

  /// The weights as i16: the even bytes of each group and vector, then all odd
  /// bytes.
  mlir::Value words;
  /// Returns the index of the first odd byte.
  static int64_t oddAt(mlir::Value words);
  int64_t groups;
};

/// The groups of k that a column tile multiplies, by kind. A run is a
/// contiguous part of the weights' panel: the taps of a row and their channels.
struct PairLists {
  /// A list of groups for each run and kind, and the length of each list. An
  /// entry holds a group's index in the run and the offset of its elements in a
  /// row.
  mlir::Value entries, counts;
  int64_t runs = 0, taps = 0, groupsOfTap = 0;

  PairLists(IndexBuilder &b, int64_t runs, int64_t taps, int64_t groupsOfTap);

  int64_t groupsOfRun() const { return taps * groupsOfTap; }

  /// The columns of a tile, from column `first` of a panel on. The kinds of
  /// their groups are in `pairs`, from `pairs[at]` on.
  struct PairColumns {
    mlir::Value pairs;
    Index at, first;
    int64_t count;
  };
  /// Sorts the groups of `columns` into the lists of this struct. `distance` is
  /// the number of elements between neighbouring taps of a row.
  void sort(IndexBuilder &b, const PairColumns &columns, Index distance) const;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_PAIRPRODUCTS_H
