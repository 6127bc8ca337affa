//===- BenchOptions.cpp - options of a measurement ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/bench/Bench.h"

#include "client/Parse.h"
#include "client/bench/Sweep.h"

#include <math.h>
#include <stdlib.h>

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

std::string ingot::tools::readTime(const std::string &text, double unitMs,
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

std::string ingot::tools::readPercentiles(const std::string &text,
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

std::string ingot::tools::readPeers(const std::string &text,
                                    std::vector<std::string> &peers) {
  peers.clear();
  for (const std::string &part : split(text, ',')) {
    if (part != "onnxruntime" && part != "openvino")
      return "knows onnxruntime and openvino, not '" + part + "'";
    peers.push_back(part);
  }
  return "";
}

std::string ingot::tools::checkOptions(const BenchOptions &options) {
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

void ingot::tools::setDefaults(BenchOptions &options) {
  options.sortsByTime = options.sort == "time";
  if (options.percentiles.empty())
    options.percentiles = {90, 95, 99};
  if (options.python.empty())
    options.python = "python3";
  if (!options.rounds)
    options.rounds = 5;
}
