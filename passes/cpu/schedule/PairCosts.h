//===- PairCosts.h - bytes as int16 or in pairs -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_SCHEDULE_PAIRCOSTS_H
#define INGOT_PASSES_CPU_SCHEDULE_PAIRCOSTS_H

#include "passes/backend/Policy.h"
#include "passes/cpu/schedule/Tiling.h"

namespace ingot::cpu {

/// Returns the instructions for a vector of groups of k as int16. The count is
/// four, plus the copies of the rows, plus the work on weights that all rows
/// share.
double costOfInt16(const RegisterTile &tile, int64_t rows);

/// Returns the instructions for a vector of groups of k in pairs, where bytes
/// may be paired. Groups take three instructions as stored, a shuffle of rows
/// for two more vectors if crossed, or five if widened first. All rows of a
/// tile share the work on weights.
double costOfPairs(const RegisterTile &tile, llvm::ArrayRef<int64_t> counts,
                   int64_t columns);

/// Returns the products that were compared for the schedule of `op`, with their
/// times. Returns nothing if there is only one product.
llvm::SmallVector<Alternative, 3> weighProducts(cpu::ScheduledOpInterface op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_PAIRCOSTS_H
