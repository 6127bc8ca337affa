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
#include "compiler/study/runs/TextFiles.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/support/StudyConsole.h"

#include "llvm/Support/Path.h"

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

static void printOutcome(const study::RepairOutcome &outcome, bool isRepaired) {
  constexpr double kMost = study::Repairer::kMostError;
  printf("int8: relative error of the outputs %.6f on %llu samples",
         outcome.after, static_cast<unsigned long long>(outcome.samples));
  if (isRepaired)
    printf(", %.6f before repairs\n", outcome.before);
  else if (outcome.after <= kMost)
    printf(", no more than %g: nothing to repair\n", kMost);
  else
    printf(": nothing that repairs could be measured by\n");
  if (isRepaired && outcome.after > kMost)
    printf("that is more than %g: `ingot compare --sensitivity` tells which "
           "layers make it\n",
           kMost);
}

static void print(const Options &options, const study::Calibration &result) {
  printf("%s: %zu tensors, %s of %llu samples\n",
         formatLine(options.output, 200).c_str(), result.file.tensors.size(),
         result.file.method.c_str(),
         static_cast<unsigned long long>(result.file.samples));
  for (const study::RepairTrial &trial : result.trials)
    printf("repair %s: relative error of the outputs from %.6f to %.6f, %s\n",
           trial.name.c_str(), trial.before, trial.after,
           trial.isKept() ? "kept" : "left out");
  if (result.outcome)
    printOutcome(*result.outcome, !result.trials.empty());
}

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
                       {"kept", trial.isKept()}});
  members["repairs"] = std::move(repairs);
  if (result.outcome)
    members["int8"] = {{"relative_error", result.outcome->after},
                       {"relative_error_before", result.outcome->before},
                       {"samples", result.outcome->samples},
                       {"relative_error_limit", study::Repairer::kMostError}};
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
    print(options, *result);
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
