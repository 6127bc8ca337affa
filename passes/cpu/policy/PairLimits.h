//===- PairLimits.h - products of pairs of bytes ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without VNNI, the fastest instruction for bytes is `vpmaddubsw`. It adds two
// products as an int16, with saturation.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_PAIRLIMITS_H
#define INGOT_PASSES_CPU_POLICY_PAIRLIMITS_H

#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/PairSums.h"

#include "mlir/IR/BuiltinTypes.h"

namespace ingot::cpu {

using support::fitsInt16;
using support::kPair;
using support::kPairGroup;

/// Returns true if products in pairs suit the number of groups. An output has
/// `all` groups, and the first-level cache must hold lists of them. `ofRun`
/// groups are contiguous in memory; there must be enough of them.
inline bool suitsPairs(int64_t ofRun, int64_t all,
                       const TargetNumbers &target) {
  return ofRun >= threshold::pairedFewestGroups &&
         all <= threshold::pairedMostGroups(target);
}

/// Returns true if a product has, or may have, enough rows to pay for sorting
/// the groups.
inline bool haveRowsForPairs(int64_t rows) {
  return mlir::ShapedType::isDynamic(rows) ||
         rows >= threshold::pairedFewestRows;
}

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_PAIRLIMITS_H
