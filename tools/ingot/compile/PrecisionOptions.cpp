//===- PrecisionOptions.cpp - options of a precision ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/PrecisionOptions.h"

#include "compiler/driver/OutputNames.h"
#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/RulesFile.h"
#include "compiler/study/report/Report.h"
#include "compiler/study/runs/TextFiles.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/CalibrationFile.h"
#include "passes/support/Rules.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/support/StudyConsole.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

int tools::usageError(const Twine &message) {
  return Console("compile").usageError(oneLine(message.str()));
}

int tools::failure(const Twine &message) {
  return Console("compile").failure(oneLine(message.str()));
}

/// Adopts the image preprocessing of the calibration, or adds a warning if the
/// command line differs. A file that cannot be read is reported later.
static void adoptPreprocess(const std::string &calibration,
                            Preprocess &preprocess,
                            std::vector<std::string> &warnings) {
  if (calibration.empty())
    return;
  llvm::Expected<quantize::Calibration> read =
      quantize::readCalibration(calibration);
  if (!read)
    return llvm::consumeError(read.takeError());
  Preprocess recorded;
  if (!read->preprocess ||
      (!read->preprocess->empty() &&
       !recorded.parse(*read->preprocess).empty()))
    return;
  if (!preprocess.isGiven)
    preprocess = recorded;
  else if (preprocess.text() != recorded.text())
    warnings.push_back(
        "'" + printable(calibration) + "' was made with --preprocess=" +
        printable(recorded.text()) + ", not " + printable(preprocess.text()));
}

int tools::readPrecision(const cli::CompileFlags &options,
                         CompileOptions &result, PrecisionRequest &request) {
  const std::string &precision = options.precision;
  [[maybe_unused]] bool isKnown = setPrecision(precision, result.pipeline);
  assert(isKnown && "the table of options has other precisions");
  const bool isInt8 = precision == "int8", isAuto = precision == "auto";
  if (isInt8 && options.calibration.empty())
    return usageError("--precision=int8 needs --calibration=FILE, which ingot "
                      "calibrate writes");
  if (isAuto && (options.eval.empty() || options.maxDrop.empty()))
    return usageError("--precision=auto needs --eval=FILE and "
                      "--max-drop=PERCENT");
  std::optional<quantize::Int8Weights> weights =
      quantize::findInt8Weights(options.weightBits);
  assert(weights && "the table of options has other forms of weights");
  result.pipeline.int8Weights = *weights;
  result.pipeline.calibration = options.calibration;
  const StringRef narrow = narrowName(result.pipeline);
  for (const std::string &rule : options.keep)
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return usageError("--keep='" + printable(rule) + "' " + wrong);
  result.pipeline.keep.assign(options.keep.begin(), options.keep.end());
  for (const std::string &file :
       {options.calibration, options.rules, options.eval})
    result.otherInputs.push_back(file);
  llvm::append_range(result.otherInputs, options.data);
  std::vector<quantize::Rule> &rules = request.study.rules;
  if (!options.rules.empty())
    if (std::string error = quantize::readRules(options.rules, rules);
        !error.empty())
      return failure(error);
  for (const std::string &rule : quantize::precisionRules(rules)) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return failure("'" + printable(options.rules) + "': rule '" +
                     printable(rule) + "' " + wrong);
    result.pipeline.keep.push_back(rule);
  }
  request.report = options.report;
  if (!request.isWanted() && !isAuto)
    return kSuccess;
  if (result.emit != EmitKind::sharedLibrary || options.printPipeline)
    return usageError("--precision=auto measures the model: it goes with a "
                      "shared library only");
  if (!result.import.values.empty())
    return usageError((isAuto ? "--precision=auto" : "--report") +
                      Twine(" does not go with --value: write the constant "
                            "into the model"));
  if (!result.import.lengths.empty() || !result.import.absent.empty())
    return usageError((isAuto ? "--precision=auto" : "--report") +
                      Twine(" does not go with --length and --absent"));
  study::StudyOptions &study = request.study;
  study.model = result.input;
  study.isReported = !options.report.empty();
  request.shapes.assign(options.shapes.begin(), options.shapes.end());
  request.dims.assign(options.dims.begin(), options.dims.end());
  study.calibration = options.calibration;
  study.keep = result.pipeline.keep;
  study.pipeline = withoutPrecision(result.pipeline);
  study.data.paths.assign(options.data.begin(), options.data.end());
  if (isAuto) {
    study.data.paths = {options.eval};
    StringRef percent = options.maxDrop;
    percent.consume_back("%");
    double drop = 0;
    if (percent.getAsDouble(drop) || !(drop >= 0 && drop <= 100))
      return usageError("--max-drop=" + options.maxDrop +
                        ": use a percentage from 0% to 100%");
    study.maxDrop = drop;
  }
  if (!options.preprocess.empty())
    if (std::string wrong = study.data.preprocess.parse(options.preprocess);
        !wrong.empty())
      return usageError("--preprocess: " + wrong);
  if (std::string wrong =
          checkPreprocess(study.data.preprocess, study.data.paths);
      !wrong.empty())
    return failure(wrong);
  adoptPreprocess(options.calibration, study.data.preprocess, request.warnings);
  return kSuccess;
}

int tools::runStudy(const PrecisionRequest &request,
                    std::optional<study::Study> &result,
                    CompileOptions &compile, mlir::MLIRContext &context,
                    Console &console, const ingot::Progress &progress) {
  // Check the output files first, because the study takes minutes.
  if (failed(checkOutputs(compile, context)))
    return kFailure;
  if (!request.report.empty()) {
    if (StringRef(request.report).ends_with(".json"))
      return usageError("--report=" + request.report +
                        " is a page: the JSON is written beside it");
    for (const std::string &path :
         {request.report, study::reportJsonPath(request.report)}) {
      if (isOutput(compile, path) || isSameFile(path, compile.decisionsFile))
        return usageError("--report=" + request.report +
                          " has the name of the library, its header or "
                          "--decisions");
      if (llvm::Error error = study::checkWritable(path, request.study.model,
                                                   compile.otherInputs))
        return writeError(console, std::move(error));
    }
  }
  study::StudyOptions options = request.study;
  if (std::string wrong =
          readSizes(request.shapes, request.dims, options.sizes);
      !wrong.empty())
    return console.usageError(wrong);
  Expected<study::Study> found =
      study::studyPrecision(std::move(options), progress);
  console.clear();
  if (!found)
    return writeError(console, found.takeError());
  result = std::move(*found);
  result->choice.applyTo(compile.pipeline);
  return kSuccess;
}
