//===- Bench.cpp - ingot bench ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/bench/Bench.h"
#include "tools/ingot/bench/Sweep.h"

#include "tools/ingot/Commands.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"

#include <math.h>
#include <new>
#include <stdlib.h>

using namespace ingot::tools;

/// Parses a number. `rest` gets the text behind it.
static bool readNumber(const std::string &text, double &value,
                       std::string &rest) {
  char *end;
  value = strtod(text.c_str(), &end);
  rest = end;
  return end != text.c_str() && isfinite(value) && value >= 0;
}

/// Parses "200ms", "3s", or a number in the unit that trtexec uses.
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
  addInputOptions(parser, options.specs);
  parser.value("weights", "FILE", options.weights,
               "separate weights (default: MODEL.so.HASH.weights)");
  parser.number("iterations", "N", options.iterations, 1, 1000000,
                "run at least N times (default: 10)");
  parser.custom(
      "warm-up", "TIME",
      [&](auto &text) { return readTime(text, 1, options.warmUpMs); },
      "run this long before measuring (default: 200ms)");
  parser.custom(
      "duration", "TIME",
      [&](auto &text) { return readTime(text, 1e3, options.durationMs); },
      "measure at least this long (default: 3s)");
  parser.number("threads", "N", options.threads, 1, 1024,
                "threads of one run (default: CPUs over contexts)");
  parser.number("contexts", "N", options.contexts, 1, 1024,
                "runs at the same time (default: 1)");
  parser.custom(
      "percentile", "P,...",
      [&](auto &text) { return readPercentiles(text, options.percentiles); },
      "percentiles of the latency (default: 90,95,99)");
  parser.flag("profile", options.profile, "print the time of each layer");
  parser.custom(
      "sort", "time|order",
      [&](const std::string &text) -> std::string {
        options.sortsByTime = text == "time";
        return text == "time" || text == "order"
                   ? ""
                   : "must be time or order, not '" + text + "'";
      },
      "order of the layers in --profile: the longest first, or as they run "
      "(default)");
  parser.flag("json", options.json, "print one JSON object");
  parser.flag("turns", options.turns,
              "measure at every line on standard input, print a line of JSON; "
              "for taking turns with other programs");
  parser.value("export-times", "FILE", options.exportTimes,
               "write the times of all runs (JSON as of trtexec)");
  parser.value("export-profile", "FILE", options.exportProfile,
               "write the times of all layers (JSON as of trtexec)");
  parser.value("export-layer-info", "FILE", options.exportLayerInfo,
               "write what the layers are (JSON as of trtexec)");
  parser.value("export-trace", "FILE", options.exportTrace,
               "write the layers of some runs for chrome://tracing");
  parser.custom(
      "against", "PEER,...",
      [&](auto &text) { return readPeers(text, options.against); },
      "compare with onnxruntime, openvino on MODEL.onnx");
  parser.number("rounds", "N", options.rounds, 1, 1000,
                "processes of each engine in --against (default: 5)");
  parser.value("python", "FILE", options.python,
               "interpreter that has the peers (default: python3)");
}

/// Returns a message about options that contradict each other, or "".
static std::string checkOptions(const BenchOptions &options) {
  if (isSweep(options.specs) &&
      (options.turns || options.wantsProfile() ||
       !options.specs.inputs.empty() || !options.exportTimes.empty() ||
       !options.exportLayerInfo.empty()))
    return "several sizes in --shape or --dim exclude --input, --turns, "
           "--profile and the --export options";
  if (options.turns &&
      (options.wantsProfile() || options.json || !options.against.empty() ||
       !options.exportTimes.empty() || !options.exportLayerInfo.empty()))
    return "--turns excludes --json, --profile, --against and the --export "
           "options";
  if (options.sortsByTime && !options.profile)
    return "--sort is for --profile";
  if (options.against.empty()) {
    if (!options.onnxModel.empty())
      return "unexpected argument '" + options.onnxModel + "'";
    return options.rounds || !options.python.empty()
               ? "--rounds and --python are for --against"
               : "";
  }
  if (options.onnxModel.empty())
    return "--against needs the ONNX model for the peers: MODEL.so MODEL.onnx";
  if (options.wantsProfile() || !options.exportTimes.empty() ||
      !options.exportLayerInfo.empty())
    return "--against excludes --profile and the --export options";
  if (!options.percentiles.empty())
    return "--against compares medians; leave out --percentile";
  if (options.contexts != 1)
    return "--against measures one context; leave out --contexts";
  return "";
}

/// Sets the defaults of options that only some uses take.
static void setDefaults(BenchOptions &options) {
  if (options.percentiles.empty())
    options.percentiles = {90, 95, 99};
  if (options.python.empty())
    options.python = "python3";
  if (!options.rounds)
    options.rounds = 5;
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
  if (isSweep(options.specs)) {
    problem = runSweep(options);
    return problem.empty() ? exitSuccess : parser.failure(problem);
  }
  if (!options.against.empty())
    return runAgainst(options, problem) ? exitSuccess : parser.failure(problem);

  if (options.turns) {
    problem = measureInTurns(options);
    return problem.empty() ? exitSuccess : parser.failure(problem);
  }
  BenchResult result;
  problem = checkExports(options);
  if (problem.empty())
    problem = measureModel(options, result);
  if (problem.empty())
    problem = exportFiles(options, result);
  if (!problem.empty())
    return parser.failure(problem);
  if (options.sortsByTime)
    sortByTime(result);
  if (options.json)
    fputs(jsonReport(options, result).c_str(), stdout);
  else
    printReport(options, result);
  fflush(stdout);
  for (const std::string &warning : result.warnings)
    fprintf(stderr, "ingot bench: warning: %s\n",
            formatLine(warning, 2000).c_str());
  return exitSuccess;
}

int ingot::benchMain(int argc, char **argv) {
  OptionParser parser(
      "bench", "MODEL.so [MODEL.onnx] [options]",
      "Measures a compiled model: latency, throughput, loading, memory and "
      "layers.",
      "ingot bench resnet50.so --threads 2 --profile");
  try {
    return bench(parser, argc, argv);
  } catch (const std::bad_alloc &) {
    return parser.failure("inputs, outputs and times do not fit into memory");
  }
}
