//===- Levels.h - facts about all CPU levels --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about all CPU levels of `ingot.targets`. They are for passes that run
// once for all levels. All levels have the same types and weights.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_LEVELS_H
#define INGOT_PASSES_CPU_POLICY_LEVELS_H

#include "dialects/ingot/IngotDialect.h"

namespace ingot::cpu {

/// Returns the lowest level that is not a `may` level. A cost that stands for
/// all levels is the cost for this level.
TargetInfo lowestLevel(mlir::Operation *op);

/// Returns true if any level multiplies bf16 faster than f32. Also checks `may`
/// levels, because the artifact has code for them if the model multiplies bf16.
bool someMultiplyBF16(mlir::Operation *op);

/// Returns true if all levels multiply bf16 faster than f32.
bool allMultiplyBF16(mlir::Operation *op);

/// Returns true if products with the requested precision `asked` multiply f16
/// by f16 and add as f16. All levels must have arithmetic on f16, because they
/// share the types between products.
bool addsF16Sums(mlir::Operation *op, Precision asked);

/// Returns true if all levels multiply bytes as int16: no level has VNNI or
/// AMX.
bool multipliesAsInt16(mlir::Operation *op);

/// Returns true if all levels have instructions that add products of bytes.
bool addsByteDots(mlir::Operation *op);

/// Returns true if any level, including `may` levels, multiplies bytes or bf16
/// in AMX tiles.
bool someHaveTiles(mlir::Operation *op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_LEVELS_H
