//===- PrecisionTable.h - what each level does with ops ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_PRECISION_PRECISIONTABLE_H
#define INGOT_PASSES_PRECISION_PRECISIONTABLE_H

#include "mlir/IR/Operation.h"

namespace ingot::precision {

/// How results of an op are stored: in half wherever that can be; if what it
/// reads is; or never.
enum class Storage { allow, infer, deny };

/// Level 1, 2 or 3; 0 is what float16 does. An op of `cpu` or `linalg`, or what
/// moves data.
Storage storageOf(mlir::Operation *op, int level);

} // namespace ingot::precision

#endif // INGOT_PASSES_PRECISION_PRECISIONTABLE_H
