//===- Bench.h - what `ingot bench` is asked and finds ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_BENCH_BENCH_H
#define INGOT_CLIENT_BENCH_BENCH_H

#include "client/Json.h"
#include "client/measure/Measure.h"

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

/// Returns a message about options that contradict each other, or "".
std::string checkOptions(const BenchOptions &options);
/// Sets the defaults of options that apply only to some uses of the command.
void setDefaults(BenchOptions &options);
// The functions parse values of options. Each returns an error message that
// follows the option's name, or "".
/// Parses "200ms", "3s", or a number in the unit that trtexec uses for the
/// option.
std::string readTime(const std::string &text, double unitMs,
                     double &milliseconds);
std::string readPercentiles(const std::string &text,
                            std::vector<double> &percentiles);
std::string readPeers(const std::string &text, std::vector<std::string> &peers);

/// Sorts layers by their time, the longest first.
void sortByTime(BenchResult &result);

/// Returns the lines for people.
std::string textReport(const BenchOptions &options, const BenchResult &result);
/// Returns the members of the JSON document.
Json jsonReport(const BenchOptions &options, const BenchResult &result);

/// Checks that the requested files can be written. Called first, because
/// measuring takes minutes. Returns an error message, or "".
std::string checkExports(const BenchOptions &options);

/// Writes the requested files. Returns an error message, or "".
std::string exportFiles(const BenchOptions &options, const BenchResult &result);

} // namespace ingot::tools

#endif // INGOT_CLIENT_BENCH_BENCH_H
