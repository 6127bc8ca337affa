//===- TuneKernels.h - kernels chosen by measurement ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--kernels=auto` compiles a model with native kernels and with those of
// another backend, has both measured layer by layer, and takes the faster one
// for each. The caller measures: the compiler does not run artifacts.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TUNE_TUNEKERNELS_H
#define INGOT_COMPILER_TUNE_TUNEKERNELS_H

#include "compiler/driver/Compiler.h"
#include "compiler/tune/KernelRecord.h"

namespace ingot {

/// What one measurement of an artifact found on this machine.
struct ArtifactTimes {
  /// The median of whole runs.
  double latencyMs = 0;
  /// Their median times, always in one order; empty if nobody asked for them.
  std::vector<LayerTime> layers;
  /// What ran: the CPU level, what the CPU calls itself, how many of them.
  std::string target, cpu;
  unsigned threads = 0;
};

/// Measures an artifact. Empty string, or what went wrong.
using MeasureArtifact = llvm::function_ref<std::string(
    llvm::StringRef artifact, bool withLayers, ArtifactTimes &times)>;

/// Sets the pipeline's kernels to those that are measured to be the fastest for
/// what `options` compiles, and its record to what was found, which
/// compileModel writes to `file`. Returns what was found. Errors go to the
/// context's diagnostic handler.
mlir::FailureOr<KernelRecord> tuneKernels(CompileOptions &options,
                                          llvm::StringRef file,
                                          MeasureArtifact measure,
                                          mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_TUNE_TUNEKERNELS_H
