//===- CpuCount.h - CPUs that this process may use ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_HOST_CPUCOUNT_H
#define INGOT_RUNTIME_HOST_CPUCOUNT_H

#include <stdint.h>

namespace ingot::rt {

/// CPUs in the affinity mask, at least 1.
uint32_t countAffinityCpus();

/// Whole CPUs that the cgroups' quotas allow (rounded down, at least 1), or
/// UINT32_MAX if there is none. `root` is prepended to /proc and /sys.
uint32_t countCgroupCpus(const char *root);

/// The smaller of the two.
uint32_t countCpus();

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_CPUCOUNT_H
