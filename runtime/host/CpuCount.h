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

/// Returns the number of whole CPUs that the quotas of cgroups allow, rounded
/// down, but at least 1. Returns UINT32_MAX if there is no quota. `root` is put
/// before /proc and /sys.
uint32_t countCgroupCpus(const char *root);

/// Returns the smaller one of both numbers.
uint32_t countCpus();

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_CPUCOUNT_H
