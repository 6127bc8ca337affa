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
#include <set>

namespace ingot::codegen {

/// The values of one parameter, one per merged kernel.
using Column = llvm::SmallVector<int64_t>;

/// A value computed from argument `place`: `factor` times the argument plus
/// `excess`.
struct Source {
  size_t place = 0;
  int64_t factor = 1, excess = 0;
};

/// The arguments that a merged function needs, and how each differing number is
/// computed from them.
struct NumberTable {
  NumberTable(llvm::ArrayRef<Column> numbers, const std::set<Column> &addends,
              bool hasMultiples);

  llvm::SmallVector<Column> columns;
  std::map<Column, Source> sources;

private:
  std::optional<Source> find(const Column &column, bool isAddend) const;

  bool hasMultiples;
};

/// Returns the table for merging kernels. Returns nullopt if the table would
/// need too many arguments. The arguments must fit into registers in each
/// innermost loop. `countInRound` counts the arguments in the loop that needs
/// most. Multiples are allowed if the kernels have vectors of 512 bits. An
/// iteration then has twice the arithmetic, which hides the address
/// computation. `addends` are the numbers that kernels only add to others.
std::optional<NumberTable>
chooseTable(llvm::ArrayRef<Column> numbers, const std::set<Column> &addends,
            llvm::function_ref<bool()> haveWideVectors,
            llvm::function_ref<size_t(const NumberTable &)> countInRound);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_NUMBERTABLE_H
