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

/// Whether `--shapes` asks for more than one size of anything.
bool isSweep(const std::vector<std::string> &shapes);

/// `--shapes` for each point: `(64:320:+64)` stands for 64, 128 … up to 320,
/// `(64:320:2048)` for these three. What is written the same is the same size
/// at each point; others combine. Empty string, or what is wrong.
std::string expandShapes(const std::vector<std::string> &shapes,
                         std::vector<std::vector<std::string>> &points);

/// Measures each point, beside the peers if there are any, and prints a line
/// for it. Empty string, or what went wrong.
std::string runSweep(const BenchOptions &options);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_BENCH_SWEEP_H
