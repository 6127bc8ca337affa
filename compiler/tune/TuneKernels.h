//===- TuneKernels.h - kernels chosen by measurement ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements `--kernels=auto`. The model is compiled with native kernels and
// with another backend's kernels, and each layer is measured with both. Each
// layer gets the faster kernels. The caller measures, because the compiler does
// not run artifacts.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TUNE_TUNEKERNELS_H
#define INGOT_COMPILER_TUNE_TUNEKERNELS_H

#include "compiler/driver/Compiler.h"
#include "compiler/tune/KernelRecord.h"

namespace ingot {

/// The result of one measurement of an artifact on this machine.
struct ArtifactTimes {
  /// Median time of whole runs.
  double latencyMs = 0;
  /// Median times of layers, always in the same order; empty unless requested.
  std::vector<LayerTime> layers;
  /// The machine: CPU level, CPU name and number of threads.
  std::string target, cpu;
  unsigned threads = 0;
};

/// Measures an artifact. Returns an error, or "".
using MeasureArtifact = llvm::function_ref<std::string(
    llvm::StringRef artifact, bool withLayers, ArtifactTimes &times)>;

/// Measures the alternatives for the model in `options`, and selects the
/// fastest kernels in the pipeline. Returns the record. Also stores it in
/// `options`; compileModel then writes it to `file`. Reports errors to the
/// context's diagnostic handler.
mlir::FailureOr<KernelRecord> tuneKernels(CompileOptions &options,
                                          llvm::StringRef file,
                                          MeasureArtifact measure,
                                          mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_TUNE_TUNEKERNELS_H
