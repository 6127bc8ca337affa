//===- Metadata.h - metadata that the compiler adds -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts and texts that the compiler writes to an artifact's metadata.
// ingot/abi/metadata_keys.inc defines their names and keys. Passes count
// channels, bytes and zeros in `ingot.statistics` of the module.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_METADATA_H
#define INGOT_DIALECTS_INGOT_METADATA_H

#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// A count of `ingot.statistics`.
enum class Count : unsigned {
#define INGOT_METADATA_NUMBER(NAME, KEY, MEANING) NAME,
#include "runtime/include/ingot/abi/metadata_keys.inc"
};

/// Keys of the entries that are text.
namespace metadatakey {
#define INGOT_METADATA_TEXT(NAME, KEY, MEANING)                                \
  constexpr llvm::StringLiteral NAME(KEY);
#include "runtime/include/ingot/abi/metadata_keys.inc"
} // namespace metadatakey

/// Sets a count of the module. `value` must not be negative.
void setCount(mlir::ModuleOp module, Count count, int64_t value);

/// Calls `body` with the metadata key and the value of each count that has been
/// set, in the order of the list.
void forEachCount(
    mlir::ModuleOp module,
    llvm::function_ref<void(llvm::StringRef key, int64_t value)> body);

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_METADATA_H
