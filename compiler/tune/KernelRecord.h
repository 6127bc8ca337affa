//===- KernelRecord.h - record of chosen kernels ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes `<output>.kernels.json`, which contains measured times and
// choices. Compiling with this file reproduces the artifact. If kernels are
// mixed, users may edit the file.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TUNE_KERNELRECORD_H
#define INGOT_COMPILER_TUNE_KERNELRECORD_H

#include "compiler/tune/ChooseKernels.h"

#include "llvm/Support/Error.h"

namespace ingot {

struct KernelRecord {
  /// The machine: CPU level, CPU name and number of threads.
  std::string target, cpu;
  unsigned threads = 0;
  /// Times of whole runs.
  double nativeMs = 0, otherMs = 0;
  std::optional<double> mixedMs;

  Kernels kernels = Kernels::native;
  std::vector<LayerChoice> layers;

  std::string toJson() const;
  /// Reads the choices. Ignores the times, which are only information for
  /// people. Fails if the text is invalid.
  static llvm::Expected<KernelRecord> fromJson(llvm::StringRef text);

  /// Sets the kernels and the nodes that the other backend computes.
  void applyTo(PipelineOptions &pipeline) const;
};

/// Sets the kernels of `pipeline` from `file`. Returns an error, or "".
std::string readKernelRecord(llvm::StringRef file, PipelineOptions &pipeline);

} // namespace ingot

#endif // INGOT_COMPILER_TUNE_KERNELRECORD_H
