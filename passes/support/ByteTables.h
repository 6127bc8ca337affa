//===- ByteTables.h - bytes looked up in tables -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_BYTETABLES_H
#define INGOT_PASSES_SUPPORT_BYTETABLES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::support {

/// Entries of a table: one for each byte.
constexpr int64_t kByteEntries = 256;

/// The table, a tensor or memref of 256 bytes, if an op replaces each byte of
/// its one operand by what stands there in the table, and does nothing else;
/// null otherwise.
mlir::Value getByteTable(mlir::linalg::LinalgOp op);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_BYTETABLES_H
