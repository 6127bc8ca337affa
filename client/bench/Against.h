//===- Against.h - a model beside other runtimes ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_BENCH_AGAINST_H
#define INGOT_CLIENT_BENCH_AGAINST_H

#include "client/bench/Bench.h"

#include <optional>

namespace ingot::tools {

/// The measurements of one process.
struct EngineSample {
  double medianMs, firstMs;
  double memoryMb; ///< at most, above what the process had before
};

struct Engine {
  std::string name, version;
  std::vector<EngineSample> samples; ///< one a round
};

/// The median times of an engine over all rounds. Ingot is the first engine.
struct EngineTimes {
  std::string name, version;
  double latencyMs;
  /// The engine's latency divided by Ingot's; not set for Ingot itself.
  std::optional<double> timesFaster;
};

/// The measurements of all engines. Ingot is the first engine.
struct Comparison {
  std::vector<Engine> engines;
  unsigned threads = 0;
  std::string precision;

  std::vector<EngineTimes> times() const;
};

/// Measures peers and the model in turn, each in a process of its own. Returns
/// an error message, or "".
std::string compareEngines(const BenchOptions &options, Comparison &comparison,
                           const ingot::Progress &progress);

/// Returns the lines for people.
std::string textReport(const BenchOptions &options,
                       const Comparison &comparison);
/// Returns the members of the JSON document.
Json jsonReport(const BenchOptions &options, const Comparison &comparison);

} // namespace ingot::tools

#endif // INGOT_CLIENT_BENCH_AGAINST_H
