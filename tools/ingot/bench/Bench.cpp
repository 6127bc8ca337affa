//===- Bench.cpp - ingot bench ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/bench/Bench.h"
#include "tools/ingot/bench/Sweep.h"

#include "client/Text.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"

#include <math.h>
#include <new>
#include <stdlib.h>

using namespace ingot;
using namespace ingot::tools;

MeasureOptions BenchOptions::measurement() const {
  MeasureOptions result;
  result.model = model;
  result.weights = weights;
  result.device = device;
  result.specs = specs;
  result.iterations = iterations;
  result.threads = threads;
  result.contexts = contexts;
  result.warmUpMs = warmUpMs;
  result.durationMs = durationMs;
  result.profiles = wantsProfile();
  return result;
}

/// Parses a number. `rest` receives the text after it.
static bool readNumber(const std::string &text, double &value,
                       std::string &rest) {
  char *end;
  value = strtod(text.c_str(), &end);
  rest = end;
  return end != text.c_str() && isfinite(value) && value >= 0;
}

/// Parses "200ms", "3s", or a number in the unit that trtexec uses for the
/// option.
static std::string readTime(const std::string &text, double unitMs,
                            double &milliseconds) {
  constexpr double mostMs = 24 * 3600e3;
  std::string unit;
  double value;
  bool valid = readNumber(text, value, unit);
  if (valid && !unit.empty()) {
    valid = unit == "ms" || unit == "s";
    unitMs = unit == "s" ? 1e3 : 1;
  }
  if (!valid || value * unitMs > mostMs)
    return "must be a time such as 200ms or 3s, not '" + text + "'";
  milliseconds = value * unitMs;
  return "";
}

static std::string readPercentiles(const std::string &text,
                                   std::vector<double> &percentiles) {
  percentiles.clear();
  for (const std::string &part : split(text, ',')) {
    double value;
    std::string rest;
    if (!readNumber(part, value, rest) || !rest.empty() || value > 100)
      return "must be numbers from 0 to 100 with commas between them, not '" +
             text + "'";
    percentiles.push_back(value);
  }
  return "";
}

static std::string readPeers(const std::string &text,
                             std::vector<std::string> &peers) {
  peers.clear();
  for (const std::string &part : split(text, ',')) {
    if (part != "onnxruntime" && part != "openvino")
      return "knows onnxruntime and openvino, not '" + part + "'";
    peers.push_back(part);
  }
  return "";
}

static void addOptions(OptionParser &parser, BenchOptions &options) {
  addInputOptions(parser, options.specs, /*takesRanges=*/true);
  parser.addDevice(options);
  parser.addWeights(options);
  parser.addJson(options);
  parser.addBench(options);
  parser.check("warm-up",
               [&](auto &text) { return readTime(text, 1, options.warmUpMs); });
  parser.check("duration", [&](auto &text) {
    return readTime(text, 1e3, options.durationMs);
  });
  parser.check("percentile", [&](auto &text) {
    return readPercentiles(text, options.percentiles);
  });
  parser.check("against",
               [&](auto &text) { return readPeers(text, options.against); });
}

/// Returns a message about options that contradict each other, or "".
static std::string checkOptions(const BenchOptions &options) {
  if (isSweep(options.specs) &&
      (options.turns || options.wantsProfile() ||
       !options.specs.inputs.empty() || !options.percentiles.empty() ||
       !options.exportTimes.empty() || !options.exportLayerInfo.empty()))
    return "several sizes in --shape or --dim exclude --input, --turns, "
           "--percentile, --profile and the --export options";
  std::vector<InputSpecs> points;
  if (std::string problem = expandSizes(options.specs, points);
      !problem.empty())
    return problem;
  if (options.against.empty())
    return options.onnxModel.empty()
               ? ""
               : "unexpected argument '" + options.onnxModel + "'";
  if (options.onnxModel.empty())
    return "--against needs the ONNX model for the peers: MODEL.so MODEL.onnx";
  return "";
}

/// Sets the defaults of options that apply only to some uses of the command.
static void setDefaults(BenchOptions &options) {
  options.sortsByTime = options.sort == "time";
  if (options.percentiles.empty())
    options.percentiles = {90, 95, 99};
  if (options.python.empty())
    options.python = "python3";
  if (!options.rounds)
    options.rounds = 5;
}

/// Measures one model and prints the report. Returns an error message, or "".
static std::string measureAndReport(const BenchOptions &options,
                                    Console &console) {
  BenchResult result;
  std::string problem = checkExports(options);
  if (problem.empty())
    problem = measureModel(options.measurement(), result, console.progress());
  console.clear();
  if (problem.empty())
    problem = exportFiles(options, result);
  if (!problem.empty())
    return problem;
  if (options.sortsByTime)
    sortByTime(result);
  if (options.json)
    console.result(jsonReport(options, result));
  else
    printReport(options, result);
  fflush(stdout);
  for (const std::string &warning : result.warnings)
    console.warning(warning);
  return "";
}

static int bench(OptionParser &parser, int argc, char **argv) {
  BenchOptions options;
  addOptions(parser, options);
  parser.optionalArgument(options.onnxModel);
  int exitCode;
  if (!parser.parse(argc, argv, options.model, exitCode))
    return exitCode;
  std::string problem = checkOptions(options);
  if (!problem.empty())
    return parser.usageError(problem);
  setDefaults(options);
  Console console("bench");
  if (isSweep(options.specs))
    problem = runSweep(options, console);
  else if (!options.against.empty())
    problem = runAgainst(options, console);
  else if (options.turns)
    problem = measureInTurns(options);
  else
    problem = measureAndReport(options, console);
  console.clear();
  return problem.empty() ? exitSuccess : parser.failure(problem);
}

int ingot::benchMain(int argc, char **argv) {
  OptionParser parser(cli::CommandId::bench);
  try {
    return bench(parser, argc, argv);
  } catch (const std::bad_alloc &) {
    return parser.failure("inputs, outputs and times do not fit into memory");
  }
}
