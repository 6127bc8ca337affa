//===- Bench.h - what `ingot bench` is asked and finds ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_BENCH_BENCH_H
#define INGOT_TOOLS_INGOT_BENCH_BENCH_H

#include "client/measure/Measure.h"
#include "tools/ingot/Console.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

struct BenchOptions : cli::BenchFlags,
                      cli::DeviceFlags,
                      cli::WeightsFlags,
                      cli::JsonFlags {
  BenchOptions() { specs.isRandomByDefault = true; }

  std::string model;
  InputSpecs specs;
  double warmUpMs = 200, durationMs = 3000;
  std::vector<double> percentiles;
  /// True to sort layers by time. Otherwise they are in the order of the run.
  bool sortsByTime = false;
  // Peers. They run the ONNX model that the artifact was compiled from.
  std::vector<std::string> against;
  std::string onnxModel;

  bool wantsProfile() const {
    return profile || !exportProfile.empty() || !exportTrace.empty();
  }
  /// Returns the options of one measurement.
  MeasureOptions measurement() const;
};

/// Loads a model. For each line on standard input, measures once and prints a
/// line of JSON. Returns an error message, or "".
std::string measureInTurns(const BenchOptions &options);

/// Sorts layers by their time, the longest first.
void sortByTime(BenchResult &result);

void printReport(const BenchOptions &options, const BenchResult &result);
/// Returns the members of the JSON document.
Json jsonReport(const BenchOptions &options, const BenchResult &result);

/// Checks that the requested files can be written. Called first, because
/// measuring takes minutes. Returns an error message, or "".
std::string checkExports(const BenchOptions &options);

/// Writes the requested files. Returns an error message, or "".
std::string exportFiles(const BenchOptions &options, const BenchResult &result);

/// Measures peers and the model in turn and prints the ratios. Returns an error
/// message, or "".
std::string runAgainst(const BenchOptions &options, Console &console);

/// The median times of an engine over all rounds. Ingot is the first engine.
struct EngineTimes {
  std::string name, version;
  double latencyMs;
  /// The engine's latency divided by Ingot's; not set for Ingot itself.
  std::optional<double> timesFaster;
};

/// Measures like runAgainst, but prints nothing. Returns an error message, or
/// "".
std::string compareEngines(const BenchOptions &options,
                           std::vector<EngineTimes> &times,
                           const ingot::Progress &progress);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_BENCH_BENCH_H
