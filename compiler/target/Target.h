//===- Target.h - CPU levels that code is generated for ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TARGET_TARGET_H
#define INGOT_COMPILER_TARGET_TARGET_H

#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/TargetInfo.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <vector>

namespace ingot {

/// A level of runtime/include/ingot/abi/cpu_features.inc.
struct Target {
  std::string level;
  /// Bits of cpu_features.inc that code for this level requires.
  uint64_t features = 0;
  /// Numbers of a core: cache sizes, which determine block sizes, and more.
  TargetNumbers numbers = {};

  /// Returns the level as a part of a C identifier.
  std::string identifier() const;
  /// Returns true if 512-bit vectors are worth using.
  bool hasAVX512() const;
  /// Describes a core of this level, whose instructions may be emulated.
  TargetInfo info() const;
  std::unique_ptr<llvm::TargetMachine> createTargetMachine() const;
};

/// The element types below 32 bits that a model multiplies.
struct Multiplied {
  bool bytes = false, bf16 = false;
};

/// The levels that `--target` stands for, each list with the lowest first.
struct Targets {
  /// Levels that the artifact has code for, whatever the model multiplies.
  std::vector<Target> sure;
  /// Levels that get code if the model multiplies elements that they multiply
  /// faster than the levels below them.
  std::vector<Target> may;

  /// Returns the levels for a model, lowest first.
  std::vector<Target> pick(const Multiplied &multiplied) const;
  /// Returns true if a level of either list passes.
  bool any(llvm::function_ref<bool(const TargetInfo &)> test) const;
};

/// Returns the levels that `text` names, with commas between them. "native" is
/// the highest level that this machine runs. "multi" is a level for each kind
/// of code that passes generate. "l1=48K" and "l2=1M" set the caches of all. On
/// failure `error` says what is wrong.
std::optional<Targets> parseTargets(llvm::StringRef text, std::string &error);

/// Lets code for the levels of `targets` run on the level `on`, which is below
/// each of them. On failure `error` says why it cannot.
bool emulate(std::vector<Target> &targets, llvm::StringRef on,
             std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_TARGET_TARGET_H
