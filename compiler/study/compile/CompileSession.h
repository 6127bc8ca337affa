//===- CompileSession.h - carries out a request to compile ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPILE_COMPILESESSION_H
#define INGOT_COMPILER_STUDY_COMPILE_COMPILESESSION_H

#include "compiler/driver/DecisionTrace.h"
#include "compiler/emit/ObjectCache.h"
#include "compiler/study/compile/CompileRequest.h"
#include "compiler/study/compile/Int8Summary.h"
#include "compiler/tune/KernelRecord.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::study {

/// The error of a compilation whose messages have gone to
/// Progress::onMessage.
class Reported : public llvm::ErrorInfo<Reported> {
public:
  static char ID;

  void log(llvm::raw_ostream &out) const override;
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
};

/// The result of a request.
struct CompileOutcome {
  /// The options of the compilation, with all choices.
  CompileOptions options;
  CompileResult result;
  /// The kernels that measurements chose.
  std::optional<KernelRecord> kernels;
  /// The study of the model, if the request wanted one.
  std::optional<Study> study;
  /// The layers in int8, for `int8` and `int8-dynamic`.
  std::optional<Int8Summary> int8;
  /// The path of the report; empty if there is none.
  std::string report;
  double seconds = 0;
};

/// Measures a model as far as the request wants it, and compiles it. Messages
/// about the model go to `progress` at once, even errors, because LLVM may end
/// the process after the compiler has found an error.
class CompileSession {
public:
  CompileSession(CompileRequest request, Progress progress);

  /// Returns the passes in text, one line for each pipeline.
  llvm::Expected<std::string> describePasses();
  /// Compiles the model. May be called once.
  llvm::Expected<CompileOutcome> run();
  /// Returns the time of each step and pass of `run` as text or as JSON. Empty
  /// if nothing was measured. May be called once.
  std::string times();

private:
  llvm::Error studyModel(std::optional<Study> &found);
  mlir::FailureOr<CompileResult> compileMeasured(CompileOutcome &outcome);
  void sendRemarks();

  CompileRequest request;
  Progress progress;
  llvm::StringMap<std::string> operators;
  DecisionTrace decisions;
  /// True if the request asks for `int8` or `int8-dynamic`.
  bool isInt8 = false;
  std::unique_ptr<mlir::MLIRContext> context;
  /// The code of compilations that measure. The last compilation reuses it.
  ObjectCache objects;
  /// The timer writes to the stream until it is destroyed.
  std::string timesText;
  llvm::raw_string_ostream timesStream;
  mlir::DefaultTimingManager timer;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPILE_COMPILESESSION_H
