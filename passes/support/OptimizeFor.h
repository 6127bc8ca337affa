//===- OptimizeFor.h - artifact size against speed --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the trade-off between speed and artifact size. A table says how many
// operations each added byte must save.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_OPTIMIZEFOR_H
#define INGOT_PASSES_SUPPORT_OPTIMIZEFOR_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

#include <limits>
#include <optional>

namespace ingot {

/// Goal of a compilation for choices that trade bytes for speed.
enum class OptimizeFor { speed, balanced, size };

/// A row of the table.
struct SizeRule {
  OptimizeFor goal;
  llvm::StringLiteral name;
  llvm::StringLiteral description;
  /// Operations of one core that each added byte must save.
  double leastGain;
  /// Bytes that a choice may add without saving any operations. They keep small
  /// layers fast.
  double freeBytes;
};

constexpr SizeRule kSizeRules[] = {
    {OptimizeFor::speed, "speed", "the fastest code", 0, 0},
    {OptimizeFor::balanced, "balanced", "bytes that pay for themselves", 50,
     256 << 10},
    {OptimizeFor::size, "size", "no bytes for speed",
     std::numeric_limits<double>::infinity(), 0},
};

const SizeRule &getSizeRule(OptimizeFor goal);

/// Returns the operations that a choice must save if it adds `addedBytes` to
/// the artifact; 0 if it adds none.
double requiredGain(OptimizeFor goal, double addedBytes);

/// Returns the goal called `name`, or nullopt.
std::optional<OptimizeFor> findGoal(llvm::StringRef name);

/// Returns the names of all goals as values of a pass or pipeline option.
llvm::cl::ValuesClass optimizeForValues();

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_OPTIMIZEFOR_H
