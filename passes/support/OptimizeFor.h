//===- OptimizeFor.h - bytes of an artifact against its speed ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some choices make code faster and the artifact larger. One table says how
// much time each added byte has to save.
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

/// The aim of a compilation where speed costs bytes.
enum class OptimizeFor { speed, balanced, size };

/// A row of the table.
struct SizeRule {
  OptimizeFor goal;
  llvm::StringLiteral name;
  llvm::StringLiteral description;
  /// The operations of one core that each added byte must save.
  double leastGain;
  /// Bytes that one choice may add for nothing: small layers stay fast.
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

/// The operations that a choice must save if it makes the artifact larger by
/// `addedBytes`; 0 if it makes it no larger.
double requiredGain(OptimizeFor goal, double addedBytes);

/// The goal called `name`, or none.
std::optional<OptimizeFor> findGoal(llvm::StringRef name);

/// The names of all goals as values of a pass's or a pipeline's option.
llvm::cl::ValuesClass optimizeForValues();

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_OPTIMIZEFOR_H
