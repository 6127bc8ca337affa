//===- Sweep.h - one model at many sizes ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_BENCH_SWEEP_H
#define INGOT_TOOLS_INGOT_BENCH_SWEEP_H

#include "tools/ingot/bench/Bench.h"

namespace ingot::tools {

/// Returns true if --shape or --dim gives more than one size.
bool isSweep(const InputSpecs &specs);

/// Sets `points` to the specs of each point. `(64:320:+64)` means 64, 128, ...
/// 320, and `(64:320:2048)` means these three sizes. Equal ranges have equal
/// sizes in each point. Different ranges are combined in all ways. Returns an
/// error message, or "".
std::string expandSizes(const InputSpecs &specs,
                        std::vector<InputSpecs> &points);

/// Measures each point, also with the peers if any are given. Prints a line for
/// each point. Returns an error message, or "".
std::string runSweep(const BenchOptions &options, Console &console);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_BENCH_SWEEP_H
