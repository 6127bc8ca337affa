//===- NumberTable.cpp - what kernels differ in ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/NumberTable.h"

#include "passes/support/Thresholds.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;
using namespace ingot::codegen;

/// Expresses `column` as a factor times `base` plus an excess. All kernels must
/// have the same factor and excess. Fails if there is no such factor or if the
/// excess is more than `maxExcess`.
static std::optional<Source> sumOf(const Column &column, const Column &base,
                                   bool hasMultiples, int64_t maxExcess) {
  Source sum;
  const auto *other =
      find_if(base, [&](int64_t number) { return number != base.front(); });
  size_t i = other - base.begin();
  int64_t distance = column[i] - column[0], ofBase = *other - base[0];
  if (distance % ofBase != 0)
    return std::nullopt;
  sum.factor = distance / ofBase;
  sum.excess = column[0] - sum.factor * base[0];
  if ((sum.factor != 1 && !hasMultiples) || std::abs(sum.excess) > maxExcess ||
      !all_of(zip_equal(column, base), [&](const auto &pair) {
        return std::get<0>(pair) == std::get<1>(pair) * sum.factor + sum.excess;
      }))
    return std::nullopt;
  return sum;
}

static int64_t divisorOf(const Column &column) {
  int64_t divisor = 0;
  for (int64_t number : column)
    divisor = std::gcd(divisor, number);
  return divisor;
}

/// Divides `column` by the greatest common divisor of its values.
static Column leastOf(const Column &column) {
  int64_t divisor = divisorOf(column);
  return map_to_vector(column,
                       [&](int64_t number) { return number / divisor; });
}

std::optional<Source> NumberTable::find(const Column &column,
                                        bool isAddend) const {
  // An instruction adds the excess of an address as its offset. Other numbers
  // take a register each if they are far apart.
  constexpr int64_t kMaxExcess = 64, kMaxOffset = int64_t(1) << 24;
  const int64_t maxExcess = isAddend ? kMaxOffset : kMaxExcess;
  for (auto [place, base] : enumerate(columns))
    if (std::optional<Source> sum =
            sumOf(column, base, hasMultiples, maxExcess)) {
      sum->place = place;
      return sum;
    }
  return std::nullopt;
}

/// Adds a column for each number that cannot be computed from earlier columns.
/// With `hasMultiples`, strides that are multiples of other strides also become
/// arguments. Otherwise LLVM computes the addresses of inner loops from each
/// other, which takes more instructions.
NumberTable::NumberTable(ArrayRef<Column> numbers,
                         const std::set<Column> &addends, bool hasMultiples)
    : hasMultiples(hasMultiples) {
  for (const Column &column : numbers)
    if (!all_equal(column))
      sources.try_emplace(column);
  SmallVector<std::pair<const Column, Source> *> order;
  for (auto &entry : sources)
    order.push_back(&entry);
  // Begin with columns of large divisors, because each other column is one of
  // these plus a small excess.
  if (hasMultiples)
    stable_sort(order, [](const auto *a, const auto *b) {
      return divisorOf(a->first) > divisorOf(b->first);
    });
  for (auto *entry : order) {
    auto &[column, source] = *entry;
    const bool isAddend = addends.count(column) != 0;
    std::optional<Source> known = find(column, isAddend);
    if (!known) {
      columns.push_back(hasMultiples ? leastOf(column) : column);
      known = find(column, isAddend);
    }
    source = *known;
  }
}

std::optional<NumberTable> ingot::codegen::chooseTable(
    ArrayRef<Column> numbers, const std::set<Column> &addends,
    function_ref<bool()> haveWideVectors,
    function_ref<size_t(const NumberTable &)> countInRound) {
  // Allow fewer than half of the 16 registers, because pointers and counters
  // need the other registers. Further values would be read from memory in each
  // iteration. With vectors of 512 bits, arithmetic hides a part of these
  // loads. With too many row distances, however, LLVM loads all rows before the
  // first product and spills the sums to the stack.
  auto tableOf = [&](bool hasMultiples,
                     size_t most) -> std::optional<NumberTable> {
    NumberTable table(numbers, addends, hasMultiples);
    const auto mostInRound =
        size_t(hasMultiples ? threshold::mergedInRoundOfWide
                            : threshold::mergedInRound);
    if (table.columns.size() > most || countInRound(table) > mostInRound)
      return std::nullopt;
    return table;
  };
  if (auto table = tableOf(/*hasMultiples=*/false, threshold::mergedNumbers))
    return table;
  if (!haveWideVectors())
    return std::nullopt;
  return tableOf(/*hasMultiples=*/true, threshold::mergedNumbersOfWide);
}
