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

/// Sequences of `length` ops, called rows, that begin at each of `starts`. The
/// ops have the same types and attributes, and use each other's results in the
/// same way. They differ in values from outside, in constants, and in messages
/// of checks.
struct Repeat {
  size_t length = 0;
  llvm::SmallVector<size_t> starts;
};

/// Finds repeats among `ops`, which are consecutive ops of a block except for
/// constants. No two rows overlap. The most frequent repeats come first.
std::vector<Repeat> findRepeats(llvm::ArrayRef<mlir::Operation *> ops);

/// Returns the number of 64-bit fields in which a value of a type is passed.
int64_t costOf(mlir::Type type);

/// Returns the approximate number of instructions of an op. Calls and launches
/// pass all of their operands. Memory is allocated and released by a call.
int64_t costOf(mlir::Operation *op);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_REPEATS_H
