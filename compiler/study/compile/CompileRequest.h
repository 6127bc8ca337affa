//===- CompileRequest.h - a compilation that a user asks for ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPILE_COMPILEREQUEST_H
#define INGOT_COMPILER_STUDY_COMPILE_COMPILEREQUEST_H

#include "base/OptionTable.h"
#include "compiler/driver/Compiler.h"
#include "compiler/study/precision/PrecisionStudy.h"

namespace ingot::study {

/// A compilation, and what is measured before it.
struct CompileRequest {
  CompileOptions compile;
  /// The study of the model, if `wantsStudy`.
  StudyOptions study;
  /// The file of the report; empty if none.
  std::string report;
  /// True to measure which backend's kernels are fastest.
  bool tunesKernels = false;
  /// Measures the time of each step and pass. `timesAsJson` selects the form of
  /// the result.
  bool measuresSteps = false, timesAsJson = false;
  /// Warnings about the options.
  std::vector<std::string> warnings;
  /// Receives remarks that explain decisions; null if nobody wants them.
  std::function<void(const Message &)> onRemark;

  bool wantsStudy() const { return !report.empty() || study.maxDrop; }
  /// Returns the path of the file with the measurements of the kernels.
  std::string kernelsFile() const;
};

/// The options of a command line or of a program that acts like one.
struct CompileCommand {
  std::string model;
  cli::CompileFlags flags;
  /// The options that the user has given, in their order.
  std::vector<cli::GivenOption> given;
  /// The options files that were read.
  std::vector<std::string> optionsFiles;
};

/// Checks the options and reads the files that they name.
llvm::Expected<CompileRequest> readRequest(const CompileCommand &command);

/// Reads the options of a precision. `request` must have the model, the output
/// and the target already.
llvm::Error readPrecision(const cli::CompileFlags &flags,
                          CompileRequest &request);

/// Checks the output files of the study, because a study takes minutes.
llvm::Error checkReport(const CompileRequest &request);

/// Checks that options can be saved to `path`, which must not be another output
/// of the request.
llvm::Error checkSavedOptions(const std::string &path,
                              const CompileRequest &request);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPILE_COMPILEREQUEST_H
