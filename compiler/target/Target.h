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
  /// True if the code for this level only launches kernels of a GPU.
  bool launchesGpu = false;

  /// Returns the name of the code: the level, or "cuda" if it launches kernels.
  std::string name() const { return launchesGpu ? "cuda" : level; }
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
  /// CPU levels that get code for every model; empty if there is code for GPUs
  /// only.
  std::vector<Target> sure;
  /// Levels that get code only if the model multiplies element types that they
  /// multiply faster than lower levels do.
  std::vector<Target> may;
  /// Compute capabilities of GPUs, 10 * major + minor, the lowest first; empty
  /// if the artifact has no code for GPUs.
  std::vector<unsigned> gpus;
  /// The CPU level of the code that launches kernels of GPUs, if there are any:
  /// the lowest of `sure`, or the lowest of all.
  std::optional<Target> gpuHost;

  /// Returns the levels for a model, lowest first.
  std::vector<Target> pick(const Multiplied &multiplied) const;
  /// Returns true if any level in either list passes `test`.
  bool any(llvm::function_ref<bool(const TargetInfo &)> test) const;
};

/// Parses a list of level names, separated by commas. "native" is the highest
/// level of this machine. "multi" selects a level for each kind of code that
/// passes generate. "cuda" and "sm_90" are levels of GPUs. With levels of GPUs
/// only, the code that launches kernels is for the lowest CPU level. "l1=48K"
/// and "l2=1M" set the cache sizes of all levels. On failure sets `error`.
std::optional<Targets> parseTargets(llvm::StringRef text, std::string &error);

/// Makes code for the levels in `targets` run on `on`, a level below all of
/// them. On failure `error` states the reason.
bool emulate(std::vector<Target> &targets, llvm::StringRef on,
             std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_TARGET_TARGET_H
