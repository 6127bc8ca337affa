//===- Errors.h - errors of studies -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_ERRORS_H
#define INGOT_COMPILER_STUDY_RUNS_ERRORS_H

#include "base/Progress.h"

#include "llvm/Support/Error.h"

#include <vector>

namespace ingot::study {

/// An error of a study: a problem with a model, a file, a sample or an option.
class StudyError : public llvm::ErrorInfo<StudyError> {
public:
  static char ID;

  explicit StudyError(std::vector<Message> messages, bool isUsage = false)
      : all(std::move(messages)), isOfOptions(isUsage) {}

  /// Returns at least one message.
  const std::vector<Message> &messages() const { return all; }
  /// Returns true if the caller's options are wrong for any contents of the
  /// files.
  bool isUsage() const { return isOfOptions; }

  void log(llvm::raw_ostream &out) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::vector<Message> all;
  bool isOfOptions;
};

/// The error after the caller stopped the study through Progress::isCancelled.
class Cancelled : public llvm::ErrorInfo<Cancelled> {
public:
  static char ID;

  void log(llvm::raw_ostream &out) const override;
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::operation_canceled);
  }
};

/// Makes an error of one line.
llvm::Error makeError(std::string text);
/// Makes an error about the caller's options.
llvm::Error makeUsageError(std::string text);
/// Makes an error unless `text` is empty.
llvm::Error errorIf(std::string text);
/// Puts the name of a sample before the error's text, if there is an error.
llvm::Error atSample(const std::string &sample, llvm::Error error);
/// Makes the error Cancelled if the caller wants the work to stop.
llvm::Error checkCancelled(const Progress &progress);

/// Sends a warning.
void warn(const Progress &progress, std::string text);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_ERRORS_H
