//===- Repair.h - repairs that are measured ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_REPAIR_H
#define INGOT_TOOLS_INGOT_CALIBRATE_REPAIR_H

#include "tools/ingot/calibrate/Calibrator.h"

namespace ingot::tools {

enum class RepairKind { equalize, smooth, round, bias };

/// The repairs that a command tries.
struct RepairChoice {
  /// True for only those repairs that the outputs' error calls for.
  bool isAutomatic = true;
  std::vector<RepairKind> kinds;
  bool isNone() const { return !isAutomatic && kinds.empty(); }
};

/// Reads `auto`, `none` or a list as `equalize,smooth,round,bias`. Returns an
/// error message that follows the option's name, or "".
std::string parseRepairs(const std::string &text, RepairChoice &choice);

/// Tries repairs of a model one after the other. Keeps a repair if it reduces
/// the outputs' error.
class Repairer {
public:
  struct Trial {
    std::string name;
    double before = 0, after = 0;
    bool isKept() const { return after < before; }
  };
  /// The measurements of the choice `auto`.
  struct Outcome {
    /// The error of the outputs: as calibrated, and with the repairs that were
    /// kept.
    double before = 0, after = 0;
    uint64_t samples = 0;
  };
  /// The error above which `auto` tries repairs. Networks below it lost less
  /// than half a percentage point of accuracy (docs/accuracy.md).
  static constexpr double kMostError = 0.08;
  /// The number of samples for comparing repairs. More samples are needed than
  /// for the question if repairs are needed, since differences are smaller.
  static constexpr uint64_t kComparedSamples = 32;
  /// The most bytes of samples and outputs that are kept to measure errors for
  /// `auto`.
  static constexpr uint64_t kMostKept = uint64_t(256) << 20;

  /// `survey` is that of the samples that were used to calibrate.
  Repairer(const Calibrator::Options &options, const SampleSurvey &survey,
           const OptionParser &parser, const Progress &progress)
      : options(options), survey(survey), parser(parser), progress(progress),
        mostSamples(options.numSamples) {}

  /// Repairs a calibration. Returns 0, or the exit code after an error was
  /// printed.
  int run(const std::vector<RepairKind> &kinds,
          quantize::Calibration &calibration, std::vector<Trial> &trials);
  /// Repairs a calibration if its error is too large. The error is that of the
  /// int8 model on `samples`, whose f32 outputs are known. Cheap repairs are
  /// tried first, then rounded weights, until the error on `compared` samples
  /// is at most kMostError.
  int runAutomatic(llvm::ArrayRef<KnownSample> samples, uint64_t compared,
                   quantize::Calibration &calibration,
                   std::vector<Trial> &trials, Outcome &outcome);

private:
  /// A calibration and its error.
  struct State {
    quantize::Calibration calibration;
    double error = 0;
  };
  /// Applies a repair to `state`, and keeps it if the error falls.
  int tryOne(RepairKind kind, State &state, std::vector<Trial> &trials);
  int repair(RepairKind kind, quantize::Calibration &calibration);
  /// Finds the ranges of the repaired model.
  int recalibrate(quantize::Calibration &calibration);
  int findMaxima(quantize::Calibration &calibration);
  int roundWeights(quantize::Calibration &calibration);
  int correctBiases(quantize::Calibration &calibration);
  int measure(const quantize::Calibration &calibration, double &error);
  int measureInt8(const quantize::Calibration &calibration,
                  llvm::ArrayRef<KnownSample> samples, double &error);
  int prepare(Probe &probe, const quantize::Calibration &calibration,
              bool showsErrors);

  const Calibrator::Options &options;
  const SampleSurvey &survey;
  const OptionParser &parser;
  const Progress &progress;
  std::string writeScratch(const quantize::Calibration &calibration);
  /// The file of the last calibration that was written.
  std::string path() const { return scratch.path() + "/repaired.json"; }

  ScratchFolder scratch;
  /// True if weights are rounded by the values that they are multiplied by.
  bool rounds = false;
  /// The limits on samples that errors are measured on, and on their bytes with
  /// outputs. `measured` is how many samples there were.
  uint64_t mostSamples = 0, mostBytes = UINT64_MAX, measured = 0;
};

/// Sets the pipeline to the repairs of a calibration. This makes a model
/// comparable with one that is compiled with the calibration. `path` is its
/// file.
void setRepairs(const quantize::Calibration &calibration,
                const std::string &path, PipelineOptions &pipeline);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_REPAIR_H
