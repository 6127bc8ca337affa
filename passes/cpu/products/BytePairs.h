//===- BytePairs.h - products of bytes without VNNI -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `vpmaddubsw` adds products of pairs of bytes as words, which `vpmaddwd` by
// ones and an addition widen: three instructions for a vector of fours. Where
// the words of a group of k might saturate, its second and third byte change
// places, in rows as in weights, so that others are added; where that does not
// help either, its bytes are widened first, five instructions. Which groups are
// which is a constant of the op, its `pairs`. A task sorts the groups of its
// columns by it once, and each register tile goes through the kinds one after
// the other: no branch depends on a group.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_BYTEPAIRS_H
#define INGOT_PASSES_CPU_PRODUCTS_BYTEPAIRS_H

#include "passes/cpu/products/Products.h"

namespace ingot::cpu {

/// Calls the intrinsic for vectors of 16, 32 or 64 bytes; the result has
/// elements of `bits`.
mlir::Value callOfWidth(IndexBuilder &b, llvm::ArrayRef<llvm::StringRef> names,
                        int64_t bits, mlir::ValueRange arguments);

/// Integers of 32 bits as pairs of words.
mlir::Value asWords(IndexBuilder &b, mlir::Value integers);

/// The products of words, of each pair added up.
mlir::Value multiplyPairs(IndexBuilder &b, mlir::Value x, mlir::Value y);

/// The even (`i` = 0) or the odd (1) bytes of a vector, signed, as words.
mlir::Value widenBytes(IndexBuilder &b, mlir::Value bytes, int64_t i);

/// The products of bytes, those of x unsigned, of each pair added up as words:
/// they are to fit.
mlir::Value multiplyBytes(IndexBuilder &b, mlir::Value x, mlir::Value y);

/// sum + the products of words, of each pair added up.
mlir::Value addWords(IndexBuilder &b, mlir::Value row, mlir::Value weights,
                     mlir::Value sum);

/// sum + the products of bytes, those of `row` unsigned, of each four added up;
/// those of a pair fit words.
mlir::Value addPairs(IndexBuilder &b, mlir::Value row, mlir::Value weights,
                     mlir::Value sum);

/// Weights of a column tile that are multiplied as words by many rows: widened
/// once, on the stack.
struct WideWeights {
  WideWeights(IndexBuilder &b, int64_t groups, int64_t columns);

  /// Whether that pays: they are few enough, and `rows` rows a task are many.
  static bool pays(int64_t groups, int64_t columns, int64_t rows);

  /// Widens the weights of a column tile.
  void fill(IndexBuilder &b, const TileWeights &weights) const;

  /// Of i16: the even bytes of each group and vector, then all odd ones.
  mlir::Value words;
  /// Where the odd ones start.
  static int64_t oddAt(mlir::Value words);
  int64_t groups;
};

/// The groups of k that a column tile multiplies, by kind. A run is what is
/// contiguous in the weights' panel: the taps of a row and their channels.
struct PairLists {
  /// For each run and kind a list of groups, each its number in the run and
  /// where its elements stand in a row; and how many of the list there are.
  mlir::Value entries, counts;
  int64_t runs = 0, taps = 0, groupsOfTap = 0;

  PairLists(IndexBuilder &b, int64_t runs, int64_t taps, int64_t groupsOfTap);

  int64_t groupsOfRun() const { return taps * groupsOfTap; }

  /// The columns at hand, from `first` on of those of a panel, and what is said
  /// about its groups, from `pairs[at]` on.
  struct Columns {
    mlir::Value pairs;
    Index at, first;
    int64_t count;
  };
  /// Sorts the groups. Neighbouring taps are `distance` elements of a row
  /// apart.
  void sort(IndexBuilder &b, const Columns &columns, Index distance) const;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_BYTEPAIRS_H
