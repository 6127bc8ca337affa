//===- CpuFeatures.h - what this CPU can run ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CPU_CPUFEATURES_H
#define INGOT_RUNTIME_CPU_CPUFEATURES_H

#include "ingot/ingot.h"

namespace ingot::rt {

/// Bits of cpu_features.inc.
enum CpuFeature : uint64_t {
#define INGOT_CPU_FEATURE(BIT, NAME, LLVM_NAME) NAME = uint64_t(1) << BIT,
#include "ingot/abi/cpu_features.inc"
};

/// Returns the features that both the CPU and the operating system support.
uint64_t detectCpuFeatures();

/// Sets the features of the level called `name`. Returns false if there is no
/// such level.
bool findCpuLevel(const char *name, uint64_t &features);

/// Returns the name of the highest level that needs only `features`.
const char *highestCpuLevel(uint64_t features);

/// Features that need the tile registers.
constexpr uint64_t amxFeatures = AMX_TILE | AMX_INT8 | AMX_BF16;
inline bool needsAmx(uint64_t features) { return features & amxFeatures; }

/// Appends `name` to a comma-separated list, if there is room.
void appendName(char *list, size_t room, const char *name);

/// Appends the names of `features`.
void nameCpuFeatures(uint64_t features, char *list, size_t room);

/// The CPU features that code may use.
struct Cpu {
  uint64_t features;
  /// Name of the level that limits `features`, and the option or variable that
  /// sets it. Null if there is no limit.
  const char *cap;
  const char *capSource;
  /// Asks the kernel for the tile registers. Returns false if it refuses.
  bool (*requestAmx)();
};

/// Reads the features of this CPU, up to the level in INGOT_MAX_ISA. Fails if
/// INGOT_MAX_ISA is not the name of a level.
ingot_status readCpu(Cpu &cpu, ingot_error *error);

/// Removes features above the level `cap`, for the limit that `source` sets. If
/// `cap` is null, removes nothing. Fails if `cap` is not the name of a level.
ingot_status capCpu(const char *cap, const char *source, Cpu &cpu,
                    ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CPU_CPUFEATURES_H
