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

/// Returns the number of instructions for a vector of groups of k as int16. The
/// number is four, plus the copies of the rows, plus a share of the work on
/// weights. All rows of a task share this work.
double costOfInt16(const RegisterTile &tile, int64_t rows);

/// Returns the number of instructions for a vector of groups of k in pairs, if
/// bytes may be paired. A group takes three instructions as stored, and five if
/// widened first. A crossed group also takes a shuffle of the row, which all
/// vectors of the tile share. All rows of a tile share the work on weights.
double costOfPairs(const RegisterTile &tile, llvm::ArrayRef<int64_t> counts,
                   int64_t columns);

/// Returns the products that were compared for the schedule of `op`, with their
/// times. Returns nothing if there is only one product.
llvm::SmallVector<Alternative, 3> weighProducts(cpu::ScheduledOpInterface op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_SCHEDULE_PAIRCOSTS_H
