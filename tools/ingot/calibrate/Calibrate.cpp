//===- Calibrate.cpp - ingot calibrate ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/Calibrate.h"
#include "client/Text.h"
#include "client/inputs/Inputs.h"
#include "compiler/study/options/SizeOptions.h"
#include "compiler/study/repair/RepairReport.h"
#include "compiler/study/runs/TextFiles.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/support/StudyConsole.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <stdlib.h>

using namespace ingot;
using namespace ingot::tools;

namespace {

struct Options : cli::CalibrateFlags,
                 cli::DataFlags,
                 cli::ThreadsFlags,
                 cli::JsonFlags {
  std::string model;
  cli::PreprocessFlags pictures;
  Preprocess preprocess;
  quantize::MethodChoice choice;
  study::RepairChoice repairs;
};

} // namespace

static Json toJson(const Options &options, const study::Calibration &result) {
  Json members = {
      {"calibration", options.output}, {"model", result.file.model},
      {"sha256", result.file.sha256},  {"tensors", result.file.tensors.size()},
      {"method", result.file.method},  {"samples", result.file.samples}};
  Json repairs = Json::array();
  for (const study::RepairTrial &trial : result.trials)
    repairs.push_back({{"name", trial.name},
                       {"relative_error_before", trial.before},
                       {"relative_error_after", trial.after},
                       {"kept", trial.isKept},
                       {"out_of_time", trial.isOutOfTime},
                       {"layers_kept", trial.kept}});
  members["repairs"] = std::move(repairs);
  if (result.outcome)
    members["int8"] = {{"output", result.outcome->after.output},
                       {"part", result.outcome->after.part},
                       {"relative_error", result.outcome->after.error},
                       {"relative_error_low", result.outcome->after.low},
                       {"relative_error_high", result.outcome->after.high},
                       {"relative_error_before", result.outcome->before.error},
                       {"samples", result.outcome->after.samples},
                       {"relative_error_limit", study::ErrorMeter::kMostError}};
  return members;
}

/// Checks the output, and reads the files that the options name.
static llvm::Error readOptions(const Options &options,
                               study::CalibrateOptions &result) {
  std::vector<std::string> files = options.data;
  if (!options.rules.empty())
    files.push_back(options.rules);
  if (llvm::Error error =
          study::checkWritable(options.output, options.model, files))
    return error;
  if (!options.rules.empty())
    if (llvm::Error error =
            study::errorIf(quantize::readRules(options.rules, result.rules)))
      return error;
  if (std::string wrong =
          study::readSizes(options.shapes, options.dims, result.sizes);
      !wrong.empty())
    return study::makeUsageError(wrong);
  if (llvm::Error error =
          study::errorIf(checkPreprocess(options.preprocess, options.data)))
    return error;
  result.model = options.model;
  result.data = {options.data, options.preprocess};
  result.method = options.choice;
  result.repairs = options.repairs;
  result.numSamples = options.numSamples;
  result.threads = options.threads;
  std::optional<double> mostError;
  if (std::string wrong = parseBound(options.maxError, mostError);
      !wrong.empty())
    return study::makeUsageError("option --max-error " + wrong);
  result.maxError = *mostError;
  return llvm::Error::success();
}

static int calibrate(const Options &options) {
  Console console("calibrate");
  console.setJson(options.json);
  study::CalibrateOptions chosen;
  if (llvm::Error error = readOptions(options, chosen))
    return writeError(console, std::move(error));
  llvm::Expected<study::Calibration> result =
      study::calibrate(std::move(chosen), console.progress());
  console.clear();
  if (!result)
    return writeError(console, result.takeError());
  if (llvm::Error error = study::writeCalibration(*result, options.output))
    return writeError(console, std::move(error));
  if (options.json)
    console.result(toJson(options, *result));
  else
    llvm::outs() << study::textReport(*result, options.output);
  return exitSuccess;
}

int ingot::calibrateMain(int argc, char **argv) {
  Options options;
  OptionParser parser(cli::CommandId::calibrate);
  parser.addData(options);
  addPreprocessOption(parser, options.pictures, options.preprocess);
  parser.addCalibrate(options);
  parser.addThreads(options);
  parser.addJson(options);
  parser.check("method", [&](const std::string &name) -> std::string {
    std::optional<quantize::Method> method = quantize::findMethod(name);
    if (!method)
      return "must be " + quantize::methodNames();
    options.choice.method = *method;
    return "";
  });
  parser.check("percentile", [&](const std::string &text) -> std::string {
    char *end = nullptr;
    options.choice.percentile = strtod(text.c_str(), &end);
    bool isRight = !*end && quantize::isPercentile(options.choice.percentile);
    return isRight ? "" : "must be above 50 and at most 100";
  });
  parser.check("repair", [&](const std::string &text) {
    return study::parseRepairs(text, options.repairs);
  });
  int exitCode = 0;
  if (!parser.parse(argc, argv, options.model, exitCode))
    return exitCode;
  if (options.data.empty())
    return parser.usageError("--data is missing: files or a folder of samples");
  if (options.output.empty()) {
    llvm::SmallString<128> name(llvm::sys::path::filename(options.model));
    llvm::sys::path::replace_extension(name, "calib.json");
    options.output = std::string(name);
  }
  return calibrate(options);
}
