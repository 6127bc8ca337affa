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

/// Which repairs a command tries.
struct RepairChoice {
  /// Those that the outputs' error asks for, and no more.
  bool isAutomatic = true;
  std::vector<RepairKind> kinds;
  bool isNone() const { return !isAutomatic && kinds.empty(); }
};

/// Reads `auto`, `none` or a list as `equalize,smooth,round,bias`; returns what
/// is wrong, to be read behind the option's name, or "".
std::string parseRepairs(const std::string &text, RepairChoice &choice);

/// Tries repairs of a model, one after the other, and keeps those with which
/// the outputs' error is less.
class Repairer {
public:
  struct Trial {
    std::string name;
    double before = 0, after = 0;
    bool isKept() const { return after < before; }
  };
  /// What was measured of the choice `auto`.
  struct Outcome {
    /// Of the outputs: as calibrated, and with what was kept.
    double before = 0, after = 0;
    uint64_t samples = 0;
  };
  /// Above that error `auto` tries repairs. Of the networks whose accuracy was
  /// measured those below it lost less than half a point (docs/accuracy.md).
  static constexpr double kMostError = 0.08;
  /// Repairs are held against each other on more samples than what only tells
  /// whether any is needed, for differences are smaller.
  static constexpr uint64_t kComparedSamples = 32;
  /// Of samples and outputs that are kept to measure errors for `auto`.
  static constexpr uint64_t kMostKept = uint64_t(256) << 20;

  /// `survey` is of the samples that were calibrated on.
  Repairer(const Calibrator::Options &options, const SampleSurvey &survey,
           const OptionParser &parser, const Progress &progress)
      : options(options), survey(survey), parser(parser), progress(progress),
        mostSamples(options.numSamples) {}

  /// Repairs what was calibrated. 0, or the code to end with once what is wrong
  /// was printed.
  int run(const std::vector<RepairKind> &kinds,
          quantize::Calibration &calibration, std::vector<Trial> &trials);
  /// The same, if the error on the usual samples asks for it: first what costs
  /// little, then with rounded weights, until the error is no more than
  /// kMostError on `compared` samples. Whether it asks, the model in int8 tells
  /// on samples of which f32's outputs are there already.
  int runAutomatic(llvm::ArrayRef<KnownSample> samples, uint64_t compared,
                   quantize::Calibration &calibration,
                   std::vector<Trial> &trials, Outcome &outcome);

private:
  /// A calibration and its error.
  struct State {
    quantize::Calibration calibration;
    double error = 0;
  };
  /// Goes on with what a repair makes of `state`, if that is better.
  int tryOne(RepairKind kind, State &state, std::vector<Trial> &trials);
  int repair(RepairKind kind, quantize::Calibration &calibration);
  /// Finds the ranges of what is repaired.
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
  /// Where the last one was written.
  std::string path() const { return scratch.path() + "/repaired.json"; }

  ScratchFolder scratch;
  /// Weights are rounded by what they are multiplied by.
  bool rounds = false;
  /// What errors are measured on: so many samples, of so many bytes with their
  /// outputs; and how many that were.
  uint64_t mostSamples = 0, mostBytes = UINT64_MAX, measured = 0;
};

/// Sets the pipeline to what a calibration has repaired, for models that are
/// held against one that is compiled with it. `path` is its file.
void setRepairs(const quantize::Calibration &calibration,
                const std::string &path, PipelineOptions &pipeline);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_REPAIR_H
