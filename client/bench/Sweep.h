//===- Sweep.h - one model at many sizes ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_BENCH_SWEEP_H
#define INGOT_CLIENT_BENCH_SWEEP_H

#include "client/bench/Against.h"

namespace ingot::tools {

/// Returns true if --shape or --dim gives more than one size.
bool isSweep(const InputSpecs &specs);

/// Sets `points` to the specs of each point. `(64:320:+64)` means 64, 128, ...
/// 320, and `(64:320:2048)` means these three sizes. Equal ranges have equal
/// sizes in each point. Different ranges are combined in all ways. Returns an
/// error message, or "".
std::string expandSizes(const InputSpecs &specs,
                        std::vector<InputSpecs> &points);

/// The measurements of a point.
struct SweepPoint {
  std::string shapes;
  double latencyMs, bestMs, runsPerSecond;
  std::vector<EngineTimes> engines; ///< with peers
};

/// Measures each point, also with the peers if any are given. Returns an error
/// message, or "".
std::string measureSizes(const BenchOptions &options,
                         std::vector<SweepPoint> &points,
                         const ingot::Progress &progress);

/// Returns a table for people.
std::string textReport(const std::vector<SweepPoint> &points);
/// Returns the members of the JSON document.
Json jsonReport(const BenchOptions &options,
                const std::vector<SweepPoint> &points);

} // namespace ingot::tools

#endif // INGOT_CLIENT_BENCH_SWEEP_H
