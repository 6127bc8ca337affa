//===- CompileSession.cpp - carries out a request to compile --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/CompileSession.h"

#include "compiler/driver/Messages.h"
#include "compiler/pipeline/PrecisionName.h"
#include "compiler/study/compile/MeasureArtifact.h"
#include "compiler/study/report/Report.h"

#include "mlir/IR/Diagnostics.h"

#include <chrono>

using namespace llvm;
using namespace ingot;
using namespace ingot::study;

/// The fractions of the work that come before the last compilation: a study,
/// and the choice of kernels.
static constexpr double kStudyShare = 0.8, kTuningShare = 0.75;

char Reported::ID;

void Reported::log(raw_ostream &out) const { out << "the compilation failed"; }

CompileSession::CompileSession(CompileRequest given, Progress progress)
    : request(std::move(given)), progress(std::move(progress)),
      context(createContext()), timesStream(timesText) {
  CompileOptions &options = request.compile;
  options.operators = &operators;
  context->getDiagEngine().registerHandler([this](mlir::Diagnostic &found) {
    this->progress.message(toMessage(found, request.compile.input, operators));
    return mlir::success();
  });
  const std::string precision = precisionName(options.pipeline);
  isInt8 = precision == "int8" || precision == "int8-dynamic";
  if (request.onRemark || !options.decisionsFile.empty() || isInt8) {
    RemarkReader sendRemark =
        [this](const mlir::remark::detail::Remark &found) {
          request.onRemark(toMessage(found, request.compile.input, operators));
        };
    readRemarks(*context, decisions, request.onRemark ? sendRemark : nullptr);
    options.decisions = &decisions;
  }
  for (const std::string &text : request.warnings) {
    Message warning;
    warning.severity = Severity::warning;
    warning.text = text;
    this->progress.message(warning);
  }
}

Expected<std::string> CompileSession::describePasses() {
  mlir::FailureOr<std::string> text =
      describePipeline(request.compile, *context);
  if (failed(text))
    return make_error<Reported>();
  return std::move(*text);
}

/// Runs the study, and sets the precisions that it has chosen.
Error CompileSession::studyModel(std::optional<Study> &found) {
  // Check the output files first, because the study takes minutes.
  if (failed(checkOutputs(request.compile, *context)))
    return make_error<Reported>();
  if (Error error = checkReport(request))
    return error;
  StudyOptions options = request.study;
  options.objects = &objects;
  Expected<Study> result =
      studyPrecision(std::move(options), progress.part(0, kStudyShare));
  if (!result)
    return result.takeError();
  found = std::move(*result);
  found->choice.applyTo(request.compile.pipeline);
  return Error::success();
}

/// Chooses kernels if the request wants it, and compiles the model.
mlir::FailureOr<CompileResult>
CompileSession::compileMeasured(CompileOutcome &outcome) {
  CompileOptions &options = request.compile;
  // Only the last compilation publishes what the caller waits for.
  std::function<void()> published = std::move(options.published);
  options.published = nullptr;
  options.progress = progress;
  if (outcome.study)
    options.progress = progress.part(kStudyShare, 1);
  if (request.tunesKernels) {
    options.progress = progress.part(0, kTuningShare);
    mlir::FailureOr<KernelRecord> kernels =
        tuneKernels(options, request.kernelsFile(), measureArtifact, *context);
    if (failed(kernels))
      return mlir::failure();
    outcome.kernels = std::move(*kernels);
    options.progress = progress.part(kTuningShare, 1);
  }
  options.published = std::move(published);
  return compileModel(options, *context);
}

void CompileSession::sendRemarks() {
  if (request.onRemark)
    for (const Message &message :
         remarksOf(decisions, request.compile.input, operators))
      request.onRemark(message);
}

Expected<CompileOutcome> CompileSession::run() {
  const auto started = std::chrono::steady_clock::now();
  CompileOptions &options = request.compile;
  CompileOutcome outcome;
  if (request.tunesKernels || request.wantsStudy())
    options.objects = &objects;
  if (request.wantsStudy())
    if (Error error = studyModel(outcome.study))
      return error;
  timer.setEnabled(request.measuresSteps);
  timer.setOutput(mlir::createOutputStrategy(
      request.timesAsJson ? mlir::DefaultTimingManager::OutputFormat::Json
                          : mlir::DefaultTimingManager::OutputFormat::Text,
      timesStream));
  mlir::TimingScope timing = timer.getRootScope();
  options.timing = &timing;
  mlir::FailureOr<CompileResult> result = compileMeasured(outcome);
  timing.stop();
  options.timing = nullptr;
  sendRemarks();
  if (failed(result))
    return make_error<Reported>();
  if (!request.report.empty())
    if (Error error = writeReport(*outcome.study, request.report))
      return error;
  outcome.options = options;
  outcome.result = std::move(*result);
  outcome.report = request.report;
  if (isInt8)
    outcome.int8 = summarizeInt8(decisions.getDecisions());
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - started;
  outcome.seconds = taken.count();
  return outcome;
}

std::string CompileSession::times() {
  if (request.measuresSteps)
    timer.print();
  return std::exchange(timesText, "");
}
