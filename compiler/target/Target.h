//===- Target.h - CPU levels that code is generated for ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TARGET_TARGET_H
#define INGOT_COMPILER_TARGET_TARGET_H

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <vector>

namespace ingot {

/// One level of runtime/include/ingot/abi/cpu_features.inc.
struct Target {
  std::string level;
  /// Bits of cpu_features.inc that code for this level needs.
  uint64_t features = 0;
  /// Of a core: caches, which blocks are cut for, and more.
  TargetNumbers numbers = {};

  /// The level as a part of a C identifier.
  std::string identifier() const;
  /// Whether 512-bit vectors are worth using.
  bool hasAVX512() const;
  /// Whether products of bf16 are faster than those of f32.
  bool hasFastBF16() const;
  /// Whether there is arithmetic on f16.
  bool hasFP16() const;
  /// Whether one instruction multiplies and adds up four bytes, in vectors or
  /// in tiles; also where it is emulated.
  bool hasByteDots() const;
  /// Whether bytes or bf16 are multiplied in tiles.
  bool hasAmx() const;
  std::unique_ptr<llvm::TargetMachine> createTargetMachine() const;
};

/// What of less than 32 bits a model multiplies.
struct Multiplied {
  bool bytes = false, bf16 = false;
};

/// The levels that `text` stands for, lowest first: names with commas between
/// them; "native", the highest level that this machine runs; or "multi", one
/// level for each kind of code that passes generate for what is `multiplied`.
/// "l1=48K" and "l2=1M" among them are the caches of all. On failure `error`
/// says what is wrong with it.
std::optional<std::vector<Target>>
parseTargets(llvm::StringRef text, std::string &error,
             const Multiplied &multiplied = {});

/// Lets code for the levels of `targets` run on the level `on`, below each of
/// them. On failure `error` says why it cannot.
bool emulate(std::vector<Target> &targets, llvm::StringRef on,
             std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_TARGET_TARGET_H
