//===- Target.h - CPU levels that code is generated for ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TARGET_TARGET_H
#define INGOT_COMPILER_TARGET_TARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace ingot {

/// One level of runtime/include/ingot/abi/cpu_features.inc.
struct Target {
  std::string level;
  /// Bits of cpu_features.inc that code for this level needs.
  uint64_t features = 0;

  /// Whether 512-bit vectors are worth using.
  bool hasAVX512() const;
  std::unique_ptr<llvm::TargetMachine> createTargetMachine() const;
};

/// The level called `name`, or with "native" the highest that this machine
/// runs. On failure `error` says which names there are.
std::optional<Target> lookupTarget(llvm::StringRef name, std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_TARGET_TARGET_H
