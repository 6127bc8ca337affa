//===- PrecisionOptions.h - options of a precision --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_PRECISIONOPTIONS_H
#define INGOT_TOOLS_INGOT_COMPILE_PRECISIONOPTIONS_H

#include "base/OptionTable.h"
#include "compiler/driver/Compiler.h"
#include "compiler/study/precision/PrecisionStudy.h"
#include "tools/ingot/Console.h"

namespace ingot::tools {

/// Exit codes. Scripts can distinguish them.
enum CompileExit { kSuccess = 0, kFailure = 1, kUsage = 2 };

/// Prints one line on stderr. Returns kUsage.
int usageError(const llvm::Twine &message);

/// Prints one line on stderr about a file or a folder. Returns kFailure.
int failure(const llvm::Twine &message);

/// The parts of the precision that are chosen or measured before the
/// compilation.
struct PrecisionRequest {
  study::StudyOptions study;
  /// The values of --shape and --dim.
  std::vector<std::string> shapes, dims;
  /// Warnings about the options, which are not written yet.
  std::vector<std::string> warnings;
  /// The file of the report; empty if none.
  std::string report;

  bool isWanted() const { return !report.empty() || study.maxDrop; }
};

/// Reads the options of a precision. Returns 0 or an exit code.
int readPrecision(const cli::CompileFlags &options, CompileOptions &result,
                  PrecisionRequest &request);

/// Runs the study and sets the precisions that it has chosen. Returns 0 or an
/// exit code.
int runStudy(const PrecisionRequest &request,
             std::optional<study::Study> &result, CompileOptions &compile,
             mlir::MLIRContext &context, Console &console,
             const ingot::Progress &progress);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_PRECISIONOPTIONS_H
