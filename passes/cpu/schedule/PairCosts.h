//===- PairCosts.h - bytes as words or in pairs -----------------*- C++ -*-===//
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

/// The instructions that a vector of groups of k takes in words: four, with a
/// copy of the rows, and what is done with weights for all rows.
double costOfWords(const RegisterTile &tile, int64_t rows);

/// The same in pairs, of those that may be: three as they are, a shuffle of
/// rows for two vectors more if crossed, five if they have to be widened first.
/// What is done with weights serves all rows of a tile.
double costOfPairs(const RegisterTile &tile, llvm::ArrayRef<int64_t> counts,
                   int64_t columns);

/// Returns the products that were weighed for the schedule of `op`, with the
/// time that each takes; empty if there is one.
llvm::SmallVector<Alternative, 3> weighProducts(cpu::ScheduledOpInterface op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_PAIRCOSTS_H
