//===- Summary.h - the result of a compilation -----------------*- C++ -*--===//
//-*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_SUMMARY_H
#define INGOT_TOOLS_INGOT_COMPILE_SUMMARY_H

#include "compiler/driver/Compiler.h"
#include "compiler/tune/KernelRecord.h"
#include "tools/ingot/Console.h"
#include "compiler/study/precision/PrecisionStudy.h"

namespace ingot::tools {

/// The data for the summary of `ingot compile`.
struct CompileSummary {
  const CompileOptions &options;
  const CompileResult &result;
  /// The kernels that `--kernels=auto` chose, or null.
  const KernelRecord *kernels = nullptr;
  /// The study of `--precision=auto` or `--report`, or null.
  const study::Study *study = nullptr;
  /// The path of the report; empty if there is none.
  std::string report = "";
  double seconds = 0;
};

/// Prints the sizes and the choices, if a shared library was written.
void printText(const CompileSummary &summary);

/// Returns the members of the JSON document.
Json toJson(const CompileSummary &summary);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_SUMMARY_H
