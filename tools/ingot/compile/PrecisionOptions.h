//===- PrecisionOptions.h - options of a precision --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_PRECISIONOPTIONS_H
#define INGOT_TOOLS_INGOT_COMPILE_PRECISIONOPTIONS_H

#include "compiler/driver/Compiler.h"
#include "tools/ingot/calibrate/PrecisionStudy.h"
#include "tools/ingot/compile/CompileFlags.h"

namespace ingot::tools {

/// Exit codes, which scripts can tell apart.
enum CompileExit { kSuccess = 0, kFailure = 1, kUsage = 2 };

/// Prints one line on stderr. Returns kUsage.
int usageError(const llvm::Twine &message);

/// The parts of the precision that are chosen or measured before the
/// compilation.
struct PrecisionRequest {
  StudyOptions study;
  /// The file of the report; empty if none.
  std::string report;

  bool isWanted() const { return !report.empty() || study.maxDrop; }
};

/// Reads the options of a precision. Reports each option that belongs to
/// another precision. Returns 0 or an exit code.
int readPrecision(const CompileFlags &options, CompileOptions &result,
                  PrecisionRequest &request);

/// Runs the study, and sets the precisions that it chose. Returns 0 or an exit
/// code.
int runStudy(const PrecisionRequest &request, PrecisionStudy &study,
             CompileOptions &compile, mlir::MLIRContext &context);

/// Writes the requested report. Returns an error message, or "".
std::string writeReport(const PrecisionRequest &request,
                        const PrecisionStudy &study);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_PRECISIONOPTIONS_H
