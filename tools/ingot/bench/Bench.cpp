//===- Bench.cpp - ingot bench ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/bench/Bench.h"
#include "client/bench/Against.h"
#include "client/bench/Sweep.h"
#include "client/measure/Distribution.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"

#include <new>
#include <stdio.h>

using namespace ingot;
using namespace ingot::tools;

static void addOptions(OptionParser &parser, BenchOptions &options) {
  addInputOptions(parser, options.specs, /*takesRanges=*/true);
  addDeviceOption(parser, options);
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
    fputs(textReport(options, result).c_str(), stdout);
  fflush(stdout);
  for (const std::string &warning : result.warnings)
    console.warning(warning);
  return "";
}

/// Measures a model and other engines in turn. Returns an error message, or "".
static std::string runAgainst(const BenchOptions &options, Console &console) {
  Comparison comparison;
  std::string problem = compareEngines(options, comparison, console.progress());
  console.clear();
  if (!problem.empty())
    return problem;
  if (options.json)
    console.result(jsonReport(options, comparison));
  else
    fputs(textReport(options, comparison).c_str(), stdout);
  return "";
}

/// Measures a model at many sizes. Returns an error message, or "".
static std::string runSweep(const BenchOptions &options, Console &console) {
  std::vector<SweepPoint> points;
  std::string problem = measureSizes(options, points, console.progress());
  console.clear();
  if (!problem.empty())
    return problem;
  if (options.json)
    console.result(jsonReport(options, points));
  else
    fputs(textReport(points).c_str(), stdout);
  return "";
}

/// Waits for the end of a line. Returns false at the end of the input.
static bool readLine() {
  int c = getchar();
  while (c != EOF && c != '\n')
    c = getchar();
  return c != EOF;
}

static void printTimes(const BenchResult &result) {
  Distribution times(result.latencies());
  puts(toLine({{"median_ms", times.median()},
               {"min_ms", times.min()},
               {"runs", result.runs.size()}})
           .c_str());
  fflush(stdout);
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
    problem = measureRepeatedly(options.measurement(), readLine, printTimes);
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
