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

/// Features that both the CPU and the operating system support.
uint64_t detectCpuFeatures();

/// Features of the level called `name`; false if there is no such level.
bool findCpuLevel(const char *name, uint64_t &features);

/// Name of the highest level within `features`.
const char *highestCpuLevel(uint64_t features);

/// Checks that code that needs `needed` may run here, and asks the kernel for
/// AMX where it is needed. `subject` names the artifact in messages.
ingot_status checkCpu(uint64_t needed, const char *subject, const char *target,
                      ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CPU_CPUFEATURES_H
