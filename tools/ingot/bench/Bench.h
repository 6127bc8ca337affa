//===- Bench.h - what `ingot bench` is asked and finds ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_BENCH_BENCH_H
#define INGOT_TOOLS_INGOT_BENCH_BENCH_H

#include "tools/ingot/Handles.h"
#include "tools/ingot/Layers.h"
#include "tools/ingot/Npy.h"
#include "tools/ingot/bench/Peaks.h"
#include "tools/ingot/inputs/Inputs.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

struct BenchOptions {
  BenchOptions() { specs.isRandomByDefault = true; }

  std::string model, weights;
  InputSpecs specs;
  unsigned iterations = 10, threads = 0, contexts = 1;
  double warmUpMs = 200, durationMs = 3000;
  std::vector<double> percentiles;
  std::string exportTimes, exportProfile, exportLayerInfo, exportTrace;
  bool profile = false, json = false;
  /// True if layers are sorted by time, not in the order of the run.
  bool sortsByTime = false;
  /// True to measure once for every line on standard input.
  bool turns = false;
  /// True to only measure the layers, without comparing with the machine's
  /// peaks.
  bool layerTimes = false;
  // Peers, which run the ONNX model that the artifact was compiled from.
  std::vector<std::string> against;
  std::string onnxModel, python;
  unsigned rounds = 0;

  bool wantsProfile() const {
    return profile || layerTimes || !exportProfile.empty() ||
           !exportTrace.empty();
  }
};

/// The start and the end of a run, relative to the start of the measurement.
struct RunTime {
  double startMs, endMs;
  double latencyMs() const { return endMs - startMs; }
};

/// A layer of the model, with its times if it was profiled.
struct LayerResult : Layer {
  double totalMs = 0, averageMs = 0, medianMs = 0, minMs = 0;
};

/// An event of the trace: a layer in one of the first profiled runs.
struct Slice {
  size_t layer, run;
  double startMs, durationMs;
};

struct BenchResult {
  // The model and the machine.
  std::string compiler, target, precision;
  std::vector<std::string> libraries; ///< that the code calls
  uint64_t cpuFeatures = 0, weightsBytes = 0, arenaBytes = 0;
  std::vector<std::string> bindings;
  std::vector<std::pair<std::string, std::string>> inputs; ///< name, shape
  std::string isa, cpu;
  unsigned cpus = 0, threads = 0;
  // Measured before anything is warm.
  double loadMs = 0, firstAnswerMs = 0;
  double baseRssMb = 0, peakRssMb = 0;
  // Measured when warm.
  unsigned warmUpRuns = 0;
  double warmUpMs = 0, wallMs = 0;
  std::vector<RunTime> runs; ///< of all contexts, by start
  // Profiled in separate runs.
  std::vector<LayerResult> layers;
  uint64_t profiledRuns = 0;
  double profiledMs = 0; ///< mean latency of these runs
  std::vector<Slice> slices;
  Peaks peaks;
  std::vector<std::string> warnings;

  std::vector<double> latencies() const;
  /// Returns the memory of the model, its inputs and its runs, without the
  /// program.
  double modelRssMb() const { return peakRssMb - baseRssMb; }
  double throughput() const {
    return wallMs > 0 ? 1e3 * double(runs.size()) / wallMs : 0;
  }
  /// Returns the sum of the layers' mean times.
  double layersMs() const;
};

/// Loads and measures a model. Returns an error message, or "".
std::string measureModel(const BenchOptions &options, BenchResult &result);

/// Loads a model. Then measures for every line on standard input and prints a
/// line of JSON. Returns an error message, or "".
std::string measureInTurns(const BenchOptions &options);

/// Sorts layers by their time, the longest first.
void sortByTime(BenchResult &result);

void printReport(const BenchOptions &options, const BenchResult &result);
std::string jsonReport(const BenchOptions &options, const BenchResult &result);

/// Checks that the requested files can be written, before minutes of measuring.
/// Returns an error message, or "".
std::string checkExports(const BenchOptions &options);

/// Writes the requested files. Returns an error message, or "".
std::string exportFiles(const BenchOptions &options, const BenchResult &result);

/// Measures peers and the model in turn and prints the ratios. Returns false on
/// an error, with its message in `problem`.
bool runAgainst(const BenchOptions &options, std::string &problem);

/// The medians of an engine's rounds. Ingot is the first engine.
struct EngineTimes {
  std::string name, version;
  double latencyMs;
  /// The engine's latency divided by Ingot's; not set for Ingot itself.
  std::optional<double> timesFaster;
};

/// Measures as runAgainst does, but prints nothing. Returns an error message,
/// or "".
std::string compareEngines(const BenchOptions &options,
                           std::vector<EngineTimes> &times);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_BENCH_BENCH_H
