//===- Repeats.h - rows of ops that a function has again --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_REPEATS_H
#define INGOT_PASSES_LLVM_REPEATS_H

#include "mlir/IR/Operation.h"

#include <vector>

namespace ingot::codegen {

/// A row of `length` ops that begins at each of `starts`: the same ops with the
/// same types and attributes, which need each other's results in the same way.
/// They differ in what they take from elsewhere, in constants, and in messages
/// of checks.
struct Repeat {
  size_t length = 0;
  llvm::SmallVector<size_t> starts;
};

/// Rows among `ops`, which follow each other in a block but for constants. No
/// two overlap; those that are there most often come first.
std::vector<Repeat> findRepeats(llvm::ArrayRef<mlir::Operation *> ops);

/// In how many words a value of a type is handed over.
int64_t costOf(mlir::Type type);

/// How many instructions an op is, roughly: calls and launches hand over all of
/// their operands, and memory is asked for, and given back, by a call.
int64_t costOf(mlir::Operation *op);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_REPEATS_H
