//===- OnnxRuntime.h - ONNX Runtime as another process ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_ONNXRUNTIME_H
#define INGOT_COMPILER_STUDY_COMPARE_ONNXRUNTIME_H

#include "compiler/study/runs/Client.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot::study {

/// The tensors of one run, inputs or outputs.
using Tensors = std::vector<Array>;

/// ONNX Runtime in a separate Python process, because Ingot is never linked
/// with it.
class OnnxRuntime {
public:
  std::string python = "python3", model;
  unsigned threads = 0;
  std::vector<std::string> inputNames, outputNames;

  /// Checks that the interpreter has ONNX Runtime.
  llvm::Error check() const;

  /// Runs all samples in one process, because starting a process takes time.
  llvm::Error run(const std::vector<Tensors> &inputs,
                  std::vector<Tensors> &outputs);

  /// Returns the version of ONNX Runtime. Known only after the first run.
  const std::string &version() const { return found; }

private:
  std::string found;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_ONNXRUNTIME_H
