//===- KernelRecord.h - what choosing kernels found -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `<output>.kernels.json`: what was measured and chosen. Compiling with such a
// file gives the same artifact again; of mixed kernels, it may be edited.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TUNE_KERNELRECORD_H
#define INGOT_COMPILER_TUNE_KERNELRECORD_H

#include "compiler/tune/ChooseKernels.h"

#include "llvm/Support/Error.h"

namespace ingot {

struct KernelRecord {
  /// The machine: its CPU level, what it calls itself, how many CPUs ran.
  std::string target, cpu;
  unsigned threads = 0;
  /// Of whole runs.
  double nativeMs = 0, otherMs = 0;
  std::optional<double> mixedMs;

  Kernels kernels = Kernels::native;
  std::vector<LayerChoice> layers;

  std::string toJson() const;
  /// Reads what was chosen; what was measured is for people. An error says what
  /// is wrong with the text.
  static llvm::Expected<KernelRecord> fromJson(llvm::StringRef text);

  /// Sets the kernels, and the nodes that the other backend computes.
  void applyTo(PipelineOptions &pipeline) const;
};

/// Sets the kernels of `pipeline` as `file` has them. Empty string, or what is
/// wrong.
std::string readKernelRecord(llvm::StringRef file, PipelineOptions &pipeline);

} // namespace ingot

#endif // INGOT_COMPILER_TUNE_KERNELRECORD_H
