//===- System.h - what the machine says about a measurement -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_MEASURE_SYSTEM_H
#define INGOT_CLIENT_MEASURE_SYSTEM_H

#include <stdint.h>
#include <string>

namespace ingot::tools {

/// Returns a monotonic time in nanoseconds.
uint64_t nowNs();

/// Returns the processor's name, or "unknown CPU".
std::string cpuName();

/// Returns the resident memory of this process in MiB: "VmRSS" is the current
/// value, "VmHWM" the maximum.
double residentMb(const char *key);

/// Returns how many times the cgroup's CPU quota has stopped this process.
uint64_t cgroupThrottled();

/// Returns the features of a CPU level as bits of cpu_features.inc, or 0 for an
/// unknown level.
uint64_t levelFeatures(const std::string &level);

} // namespace ingot::tools

#endif // INGOT_CLIENT_MEASURE_SYSTEM_H
