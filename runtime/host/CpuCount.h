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

/// Returns the number of CPUs in the affinity mask, at least 1.
uint32_t countAffinityCpus();

/// Returns the whole CPUs that the quotas of cgroups allow, rounded down and at
/// least 1. Returns UINT32_MAX if there is no quota. `root` is prepended to
/// /proc and /sys.
uint32_t countCgroupCpus(const char *root);

/// Returns the smaller number of the affinity mask and the quotas.
uint32_t countCpus();

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_CPUCOUNT_H
