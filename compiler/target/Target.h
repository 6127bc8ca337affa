//===- Target.h - levels that code is generated for -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TARGET_TARGET_H
#define INGOT_COMPILER_TARGET_TARGET_H

#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/TargetInfo.h"
#include "passes/backend/Device.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <vector>

namespace ingot {

/// A level defined in runtime/include/ingot/abi/cpu_features.inc.
struct Target {
  std::string level;
  /// Bits of cpu_features.inc: the features that code for this level requires.
  uint64_t features = 0;
  /// Numbers that describe a core, such as the cache sizes, which determine
  /// block sizes.
  TargetNumbers numbers = {};
  /// The device that computes. For another one than the CPU, the code for this
  /// level only launches kernels.
  const Device *device = &kCpu;

  bool isForCpu() const { return *device == kCpu; }
  /// Returns the name of the code: the level, or the device if it is not the
  /// CPU.
  std::string name() const { return isForCpu() ? level : device->name.str(); }
  /// Returns the name as a part of a C identifier.
  std::string identifier() const;
  /// Returns true if 512-bit vectors are worth using.
  bool hasAVX512() const;
  /// Describes a core of this level. Some of its instructions may be emulated.
  TargetInfo info() const;
  std::unique_ptr<llvm::TargetMachine> createTargetMachine() const;
};

/// The narrow element types that a model multiplies.
struct Multiplied {
  bool bytes = false, bf16 = false;
};

/// The levels that `--target` selects. Each list starts with the lowest level.
struct Targets {
  /// CPU levels that get code for every model; empty if there is code for
  /// another device only.
  std::vector<Target> sure;
  /// Levels that get code only if the model multiplies element types that they
  /// multiply faster than lower levels do.
  std::vector<Target> may;
  /// Numbers of the levels of another device than the CPU, the lowest first;
  /// empty if the artifact has code for CPUs only.
  std::vector<unsigned> deviceLevels;
  /// The CPU level of the code that launches kernels of that device, if any:
  /// the lowest of `sure`, or the lowest of all.
  std::optional<Target> host;

  /// Returns the levels for a model, lowest first.
  std::vector<Target> pick(const Multiplied &multiplied) const;
  /// Returns true if any level in either list passes `test`.
  bool any(llvm::function_ref<bool(const TargetInfo &)> test) const;
};

/// Parses a list of level names, separated by commas. "native" is the highest
/// level of this machine. "multi" selects a level for each kind of code that
/// passes generate. Levels of the devices of all backends may be in the list;
/// the name of a device stands for its usual levels. Without a CPU level, the
/// code that launches kernels is for the lowest one. "l1=48K" and "l2=1M" set
/// the cache sizes of all levels. On failure sets `error`.
std::optional<Targets> parseTargets(llvm::StringRef text, std::string &error);

/// Makes code for the levels in `targets` run on `on`, a level below all of
/// them. On failure `error` states the reason.
bool emulate(std::vector<Target> &targets, llvm::StringRef on,
             std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_TARGET_TARGET_H
