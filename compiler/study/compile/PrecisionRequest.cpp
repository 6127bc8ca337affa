//===- PrecisionRequest.cpp - options of a precision ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/CompileRequest.h"

#include "compiler/driver/OutputNames.h"
#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/RulesFile.h"
#include "compiler/study/report/Report.h"
#include "compiler/study/runs/Errors.h"
#include "compiler/study/runs/TextFiles.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/CalibrationFile.h"
#include "passes/support/Rules.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::study;

static Error usageError(const Twine &message) {
  return makeUsageError(oneLine(message.str()));
}

static Error failure(const Twine &message) {
  return makeError(oneLine(message.str()));
}

/// Adopts the image preprocessing of the calibration, or adds a warning if the
/// options differ. A file that cannot be read is reported later.
static void adoptPreprocess(const std::string &calibration,
                            tools::Preprocess &preprocess,
                            std::vector<std::string> &warnings) {
  if (calibration.empty())
    return;
  Expected<quantize::Calibration> read = quantize::readCalibration(calibration);
  if (!read)
    return consumeError(read.takeError());
  tools::Preprocess recorded;
  if (!read->preprocess || (!read->preprocess->empty() &&
                            !recorded.parse(*read->preprocess).empty()))
    return;
  if (!preprocess.isGiven)
    preprocess = recorded;
  else if (preprocess.text() != recorded.text())
    warnings.push_back(
        "'" + printable(calibration) + "' was made with --preprocess=" +
        printable(recorded.text()) + ", not " + printable(preprocess.text()));
}

/// Reads the nodes that keep a wider type, from --keep and --rules.
static Error readKeptNodes(const cli::CompileFlags &flags,
                           CompileRequest &request) {
  PipelineOptions &pipeline = request.compile.pipeline;
  const StringRef narrow = narrowName(pipeline);
  for (const std::string &rule : flags.keep)
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return usageError("--keep='" + printable(rule) + "' " + wrong);
  pipeline.keep.assign(flags.keep.begin(), flags.keep.end());
  std::vector<quantize::Rule> &rules = request.study.rules;
  if (!flags.rules.empty())
    if (std::string error = quantize::readRules(flags.rules, rules);
        !error.empty())
      return failure(error);
  for (const std::string &rule : quantize::precisionRules(rules)) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return failure("'" + printable(flags.rules) + "': rule '" +
                     printable(rule) + "' " + wrong);
    pipeline.keep.push_back(rule);
  }
  return Error::success();
}

/// Checks that the model can be measured as the other options describe it.
static Error checkMeasurable(const cli::CompileFlags &flags,
                             const CompileOptions &compile) {
  const std::string option =
      flags.precision == "auto" ? "--precision=auto" : "--report";
  if (compile.emit != EmitKind::sharedLibrary || flags.printPipeline)
    return usageError("--precision=auto measures the model: it goes with a "
                      "shared library only");
  if (!flags.values.empty())
    return usageError(option + " does not go with --value: write the constant "
                               "into the model");
  if (!flags.lengths.empty() || !flags.absent.empty())
    return usageError(option + " does not go with --length and --absent");
  return Error::success();
}

/// Reads the samples that a study runs, and the accuracy that it must keep.
static Error readStudy(const cli::CompileFlags &flags,
                       CompileRequest &request) {
  StudyOptions &study = request.study;
  study.model = request.compile.input;
  study.isReported = !flags.report.empty();
  study.calibration = flags.calibration;
  study.keep = request.compile.pipeline.keep;
  study.pipeline = withoutPrecision(request.compile.pipeline);
  study.data.paths = flags.data;
  if (flags.precision == "auto") {
    study.data.paths = {flags.eval};
    StringRef percent = flags.maxDrop;
    percent.consume_back("%");
    double drop = 0;
    if (percent.getAsDouble(drop) || !(drop >= 0 && drop <= 100))
      return usageError("--max-drop=" + flags.maxDrop +
                        ": use a percentage from 0% to 100%");
    study.maxDrop = drop;
    study.judge.seconds = flags.metricLimit;
    if (!flags.metric.empty())
      if (Error error = parseMetric(flags.metric).moveInto(study.judge.metric))
        return error;
  }
  if (!flags.preprocess.empty())
    if (std::string wrong = study.data.preprocess.parse(flags.preprocess);
        !wrong.empty())
      return usageError("--preprocess: " + wrong);
  if (std::string wrong =
          checkPreprocess(study.data.preprocess, study.data.paths);
      !wrong.empty())
    return failure(wrong);
  adoptPreprocess(flags.calibration, study.data.preprocess, request.warnings);
  return Error::success();
}

Error study::readPrecision(const cli::CompileFlags &flags,
                           CompileRequest &request) {
  PipelineOptions &pipeline = request.compile.pipeline;
  [[maybe_unused]] bool isKnown = setPrecision(flags.precision, pipeline);
  assert(isKnown && "the table of options has other precisions");
  const bool isAuto = flags.precision == "auto";
  if (flags.precision == "int8" && flags.calibration.empty())
    return usageError("--precision=int8 needs --calibration=FILE, which ingot "
                      "calibrate writes");
  if (isAuto && (flags.eval.empty() || flags.maxDrop.empty()))
    return usageError("--precision=auto needs --eval=FILE and "
                      "--max-drop=PERCENT");
  std::optional<quantize::Int8Weights> weights =
      quantize::findInt8Weights(flags.weightBits);
  assert(weights && "the table of options has other forms of weights");
  pipeline.int8Weights = *weights;
  pipeline.calibration = flags.calibration;
  if (Error error = readKeptNodes(flags, request))
    return error;
  for (const std::string &file : {flags.calibration, flags.rules, flags.eval})
    request.compile.otherInputs.push_back(file);
  append_range(request.compile.otherInputs, flags.data);
  request.report = flags.report;
  if (!isAuto && !request.wantsStudy())
    return Error::success();
  if (Error error = checkMeasurable(flags, request.compile))
    return error;
  return readStudy(flags, request);
}

Error study::checkReport(const CompileRequest &request) {
  const std::string &report = request.report;
  if (report.empty())
    return Error::success();
  if (StringRef(report).ends_with(".json"))
    return makeUsageError("--report=" + report +
                          " is a page: the JSON is written beside it");
  const CompileOptions &compile = request.compile;
  for (const std::string &path : {report, reportJsonPath(report)}) {
    if (isOutput(compile, path) || isSameFile(path, compile.decisionsFile))
      return makeUsageError("--report=" + report +
                            " has the name of the library, its header or "
                            "--decisions");
    if (Error error =
            checkWritable(path, request.study.model, compile.otherInputs))
      return error;
  }
  return Error::success();
}
