//===- NumberTable.h - what kernels differ in -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_NUMBERTABLE_H
#define INGOT_PASSES_LLVM_NUMBERTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <optional>

namespace ingot::codegen {

/// A number of kernels that are otherwise alike, one for each.
using Column = llvm::SmallVector<int64_t>;

/// `factor` times what is told at `place`, and `excess` more.
struct Source {
  size_t place = 0;
  int64_t factor = 1, excess = 0;
};

/// What one function that stands for such kernels has to be told, and where all
/// numbers come from that they differ in.
struct NumberTable {
  NumberTable(llvm::ArrayRef<Column> numbers, bool hasMultiples);

  llvm::SmallVector<Column> columns;
  std::map<Column, Source> sources;

private:
  std::optional<Source> find(const Column &column) const;

  bool hasMultiples;
};

/// The table that kernels are made one with, if few enough numbers do it: no
/// more than registers have room for in the innermost loop that takes most of
/// them, which `countInRound` counts. Multiples are computed where the kernels
/// have vectors of 512 bits: a round of their loops has twice the arithmetic
/// that others have, beside which sums of addresses take no time.
std::optional<NumberTable>
chooseTable(llvm::ArrayRef<Column> numbers,
            llvm::function_ref<bool()> haveWideVectors,
            llvm::function_ref<size_t(const NumberTable &)> countInRound);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_NUMBERTABLE_H
