//===- Case.h - running and measuring one compiled model --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_GPU_RUNNER_CASE_H
#define INGOT_TOOLS_GPU_RUNNER_CASE_H

#include "tools/gpu-runner/Gpu.h"

#include <string>

namespace ingot::gpu {

/// Runs the model of a case and compares its results. A case is an object of a
/// list of cases.
///
///     name, group   texts for the report
///     artifact      compiled model; file names are relative to `folder`
///     inputs        a source for each input: .npy file, random:SEED, or
///                   eighths:SEED for multiples of 1/8
///     expected      folder with a file 0.npy, 1.npy, ... for each output
///     tolerance     {absolute, relative, scale}; absent if bits must be equal
///     api           true to run in other ways, too, with equal bits
///     measure       seconds to measure the latency; absent for 0
///
/// Returns the row of the report. Its member "status" is "equal" if all bits
/// are, "close", "differs" or "failed".
Json runCase(const Json &item, const std::string &folder);

/// Runs the model, or the model `reference` if the case has one, and writes the
/// results as the expected ones. Returns an error message, or "".
std::string recordCase(const Json &item, const std::string &folder);

} // namespace ingot::gpu

#endif // INGOT_TOOLS_GPU_RUNNER_CASE_H
