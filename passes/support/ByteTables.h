//===- ByteTables.h - lookups in tables of 256 bytes ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_BYTETABLES_H
#define INGOT_PASSES_SUPPORT_BYTETABLES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::support {

/// Number of table entries, one per byte value.
constexpr int64_t kByteEntries = 256;

/// Returns the table of an op that replaces each byte of its only operand by a
/// table entry. The byte is the index of the entry. The table is a tensor or
/// memref of 256 bytes. Returns null for other ops.
mlir::Value getByteTable(mlir::linalg::LinalgOp op);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_BYTETABLES_H
