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

/// Returns the specs of each point in `points`. `(64:320:+64)` stands for 64,
/// 128, ... 320, and `(64:320:2048)` for these three. Equal ranges have equal
/// sizes in each point; different ranges are combined. Returns an error
/// message, or "".
std::string expandSizes(const InputSpecs &specs,
                        std::vector<InputSpecs> &points);

/// Measures each point, and the peers if any, and prints a line for it. Returns
/// an error message, or "".
std::string runSweep(const BenchOptions &options, Console &console);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_BENCH_SWEEP_H
