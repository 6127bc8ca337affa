//===- Compare.cpp - ingot compare ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/ComparisonReport.h"
#include "compiler/study/options/SizeOptions.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/support/StudyConsole.h"

#include <stdio.h>
#include <stdlib.h>

using namespace ingot;
using namespace ingot::tools;

namespace {

struct Options : study::CompareOptions {
  bool json = false;
};

} // namespace

namespace {
struct Flags : cli::CompareFlags,
               cli::DataFlags,
               cli::ThreadsFlags,
               cli::DeviceFlags,
               cli::JsonFlags {};
} // namespace

static void addOptions(OptionParser &parser, Flags &flags, Options &options) {
  parser.addData(flags);
  addInputOptions(parser, options.inputs, /*takesRanges=*/true);
  parser.addCompare(flags);
  parser.addThreads(flags);
  addDeviceOption(parser, flags);
  parser.addJson(flags);
  auto bound = [&](const char *name, std::optional<double> &value) {
    parser.check(
        name, [&](const std::string &text) { return parseBound(text, value); });
  };
  bound("atol", options.tolerance.absolute);
  bound("rtol", options.tolerance.relative);
  bound("max-error", options.tolerance.output);
}

static void copyFlags(const Flags &flags, Options &options) {
  options.data = flags.data;
  options.usesOnnxRuntime = flags.reference == "onnxruntime";
  options.python = flags.python;
  options.perLayer = flags.perLayer;
  options.sensitivity = flags.sensitivity;
  options.numSamples = flags.numSamples;
  options.calibration = flags.calibration;
  options.keep = flags.keep;
  options.rules = flags.rules;
  options.threads = flags.threads;
  options.device = flags.device;
  options.metricSeconds = flags.metricLimit;
  options.json = flags.json;
}

/// Returns a message about options that contradict each other, or "".
static std::string checkOptions(const Options &options) {
  if (options.model.empty())
    return "no model.onnx is given";
  const bool hasInputs = !options.inputs.inputs.empty();
  if (options.data.empty() && !hasInputs)
    return "--data is missing: files or a folder of samples; or one sample "
           "with --input";
  const bool hasSizes =
      !options.inputs.shapes.empty() || !options.inputs.dims.empty();
  if (options.usesOnnxRuntime && !options.data.empty() && hasSizes)
    return "--shape and --dim have no effect on --data with "
           "--reference=onnxruntime: leave them out";
  return "";
}

static int compare(Options options) {
  Console console("compare");
  console.setJson(options.json);
  // ONNX Runtime uses the sizes in the model itself.
  if (!options.usesOnnxRuntime)
    if (std::string wrong = study::readSizes(
            options.inputs.shapes, options.inputs.dims, options.sizes);
        !wrong.empty())
      return console.usageError(wrong);
  if (!options.data.empty())
    if (std::string wrong =
            checkPreprocess(options.inputs.preprocess, options.data);
        !wrong.empty())
      return console.failure(wrong);
  llvm::Expected<study::Comparison> result =
      study::compare(options, console.progress());
  console.clear();
  if (!result)
    return writeError(console, result.takeError());
  if (options.json)
    console.result(study::jsonReport(options, *result));
  else
    fputs(study::textReport(options, *result).c_str(), stdout);
  return result->isWithin() ? exitSuccess : exitBeyond;
}

int ingot::compareMain(int argc, char **argv) {
  Options options;
  Flags flags;
  OptionParser parser(cli::CommandId::compare);
  parser.optionalArgument(options.model);
  addOptions(parser, flags, options);
  int exitCode = 0;
  if (!parser.parse(argc, argv, options.artifact, exitCode))
    return exitCode;
  copyFlags(flags, options);
  if (!flags.metric.empty()) {
    llvm::Expected<study::MetricName> metric = study::parseMetric(flags.metric);
    if (!metric)
      return parser.usageError(llvm::toString(metric.takeError()));
    options.metric = std::move(*metric);
  }
  // ONNX Runtime is a valid reference for any input, so random inputs are the
  // default. For a comparison with fp32, random inputs would not be
  // representative.
  if (options.usesOnnxRuntime && options.data.empty() &&
      options.inputs.inputs.empty())
    options.inputs.inputs.push_back("random");
  if (std::string problem = checkOptions(options); !problem.empty())
    return parser.usageError(problem);
  return compare(std::move(options));
}
