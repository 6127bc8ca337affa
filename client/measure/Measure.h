//===- Measure.h - loading and timing a model -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_MEASURE_MEASURE_H
#define INGOT_CLIENT_MEASURE_MEASURE_H

#include "base/Progress.h"
#include "client/Handles.h"
#include "client/Layers.h"
#include "client/inputs/Inputs.h"
#include "client/measure/Peaks.h"

#include <functional>
#include <string>
#include <vector>

namespace ingot::tools {

struct MeasureOptions {
  MeasureOptions() { specs.isRandomByDefault = true; }

  std::string model, weights, device;
  InputSpecs specs;
  /// The inputs of all runs. If empty, they follow from `specs`.
  std::vector<Array> inputs;
  unsigned iterations = 10, threads = 0, contexts = 1;
  double warmUpMs = 200, durationMs = 3000;
  /// True to measure the layers, too.
  bool profiles = false;
  /// True to measure the machine's peaks if the layers are measured.
  bool measuresPeaks = true;
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

/// An event of the trace: one layer in one profiled run.
struct Slice {
  size_t layer, run;
  double startMs, durationMs;
};

struct BenchResult {
  // The model and the machine.
  std::string compiler, target, device = "cpu", precision;
  std::vector<std::string> libraries; ///< that the code calls
  uint64_t cpuFeatures = 0, weightsBytes = 0, arenaBytes = 0;
  std::vector<std::string> bindings;
  std::vector<std::pair<std::string, std::string>> inputs; ///< name, shape
  std::string isa, cpu;
  unsigned cpus = 0, threads = 0;
  // Measured in the first run, before caches are warm.
  double loadMs = 0, firstAnswerMs = 0;
  double baseRssMb = 0, peakRssMb = 0;
  // Measured after the warm-up.
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

  bool runsOnCpu() const { return device == "cpu"; }
  std::vector<double> latencies() const;
  /// Returns the memory for the model, its inputs and its runs. The program
  /// itself is not included.
  double modelRssMb() const { return peakRssMb - baseRssMb; }
  double throughput() const {
    return wallMs > 0 ? 1e3 * double(runs.size()) / wallMs : 0;
  }
  /// Returns the sum of the layers' mean times.
  double layersMs() const;
};

/// Loads and measures a model. Reports progress between runs, twice a second.
/// Returns an error message, or "".
std::string measureModel(const MeasureOptions &options, BenchResult &result,
                         const ingot::Progress &progress = {});

/// Loads a model. Measures as long as `wantsNext` returns true, and passes each
/// result to `report`. Returns an error message, or "".
std::string
measureRepeatedly(const MeasureOptions &options,
                  const std::function<bool()> &wantsNext,
                  const std::function<void(const BenchResult &)> &report);

} // namespace ingot::tools

#endif // INGOT_CLIENT_MEASURE_MEASURE_H
