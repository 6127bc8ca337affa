//===- PrecisionTable.h - storage of results per level ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_PRECISION_PRECISIONTABLE_H
#define INGOT_PASSES_PRECISION_PRECISIONTABLE_H

#include "mlir/IR/Operation.h"

namespace ingot::precision {

/// Storage of an op's results. `allow`: in 16 bits wherever possible. `infer`:
/// in 16 bits if the operands are. `deny`: never in 16 bits.
enum class Storage { allow, infer, deny };

/// Returns the storage of the results of `op`. `level` is the level of mixed
/// precision, 1, 2 or 3, or 0 for float16. `op` is an op of the `cpu` or
/// `linalg` dialect, or an op that moves data.
Storage storageOf(mlir::Operation *op, int level);

} // namespace ingot::precision

#endif // INGOT_PASSES_PRECISION_PRECISIONTABLE_H
