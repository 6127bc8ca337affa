//===- Repair.h - repairs that are measured ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPAIR_REPAIR_H
#define INGOT_COMPILER_STUDY_REPAIR_REPAIR_H

#include "compiler/study/repair/ErrorMeter.h"
#include "compiler/study/repair/RepairTimes.h"
#include "compiler/study/repair/Rounding.h"
#include "compiler/study/runs/Stages.h"
#include "compiler/study/runs/WorkTime.h"

namespace ingot::study {

/// The repairs that a command tries.
struct RepairChoice {
  /// True to try only repairs that the outputs' error makes necessary.
  bool isAutomatic = true;
  std::vector<RepairKind> kinds;
  bool isNone() const { return !isAutomatic && kinds.empty(); }
};

/// Parses `auto`, `none` or a list such as `equalize,smooth,round,bias,keep`.
/// Returns "", or an error text that continues the option's name.
std::string parseRepairs(const std::string &text, RepairChoice &choice);
/// Returns the name of a repair in such a list.
std::string nameOf(RepairKind kind);

/// A repair that was tried.
struct RepairTrial {
  std::string name;
  /// The largest error of an output without the repair and with it.
  double before = 0, after = 0;
  bool isKept = false;
  /// True if the repair did not end within the time for repairs, or was
  /// predicted to need more. Then `after` is NaN.
  bool isOutOfTime = false;
  /// True if more time might have found a better result.
  bool isHurried = false;
  /// The nodes that the repair keeps in fp32, one for each layer.
  std::vector<std::string> kept = {};
};

/// The measurements of the choice `auto`.
struct RepairOutcome {
  /// The error as calibrated, and with the kept repairs.
  MeasuredError before, after;
};

/// Tries repairs of a model one after the other. Keeps a repair if it reduces
/// the error.
class Repairer {
public:
  /// The most bytes of samples and outputs that `auto` keeps to compare
  /// repairs, and of Gram matrices. A default calibration takes little more
  /// memory than an inference.
  static constexpr uint64_t kMostKept = uint64_t(64) << 20;
  /// The largest share of the error that a repair of `auto` may leave. A repair
  /// that gains less is not worth its cost.
  static constexpr double kMostLeft = 0.9;

  /// `calibrator` has watched the samples with `options`.
  Repairer(Calibrator::Options options, const Calibrator &calibrator)
      : options(std::move(options)), survey(calibrator.survey()),
        times(calibrator.times(), calibrator.numSamples(),
              calibrator.tensors().size()),
        mostSamples(this->options.numSamples) {}

  /// Repairs a calibration. Returns the repairs that it has tried.
  llvm::Expected<std::vector<RepairTrial>>
  run(const std::vector<RepairKind> &kinds, quantize::Calibration &calibration,
      const Progress &progress);
  /// Repairs a calibration if its error is too large. Tries cheap repairs
  /// first, then rounded weights. Compares artifacts on a few samples by
  /// `ofRepairs`, and measures the first and the last one by `meter`. Stops
  /// when the error is at most ErrorMeter::kMostError, or when the time is
  /// over. Repairs that do not fit into the time are left out.
  llvm::Expected<std::vector<RepairTrial>>
  runAutomatic(ErrorMeter &meter, ErrorMeter &ofRepairs,
               quantize::Calibration &calibration, RepairOutcome &outcome,
               const Progress &progress);

private:
  /// A calibration and its error.
  struct State {
    quantize::Calibration calibration;
    double error = 0;
  };
  /// Applies a repair to `state`, and keeps the repair if the error falls.
  llvm::Error tryOne(RepairKind kind, State &state,
                     std::vector<RepairTrial> &trials,
                     const Progress &progress);
  /// Returns the seconds that remain for trying a repair.
  double timeLeft(RepairKind kind, const State &state) const;
  /// Applies the repairs in `kinds`, as far as the error makes them necessary
  /// and the time allows.
  llvm::Error tryNeeded(llvm::ArrayRef<RepairKind> kinds, State &state,
                        std::vector<RepairTrial> &trials, Stages &stages);
  /// Applies repairs until the error is small enough.
  llvm::Error tryAll(State &state, std::vector<RepairTrial> &trials,
                     Stages &stages);
  llvm::Error repair(RepairKind kind, quantize::Calibration &calibration,
                     const Progress &progress);
  /// Finds the ranges of the repaired model.
  llvm::Error recalibrate(quantize::Calibration &calibration,
                          const Progress &progress);
  llvm::Error findMaxima(quantize::Calibration &calibration,
                         const Progress &progress);
  llvm::Error roundWeights(quantize::Calibration &calibration,
                           const Progress &progress);
  llvm::Error correctBiases(quantize::Calibration &calibration,
                            const Progress &progress);
  llvm::Expected<double> measure(const quantize::Calibration &calibration,
                                 const Progress &progress);
  /// Finds the layers that cause most of the error for the least work
  /// (KeepLayers.cpp).
  llvm::Error keepLayers(quantize::Calibration &calibration,
                         const Progress &progress);
  /// Reads samples for measuring layers, in place of others.
  llvm::Error readForLayers(Probe &probe, unsigned count,
                            const Progress &progress);
  llvm::Expected<unsigned> countForLayers(Probe &probe,
                                          const Progress &progress);
  /// Measures an artifact that is compiled with the calibration.
  llvm::Expected<MeasuredError>
  measureInt8(ErrorMeter &meter, const quantize::Calibration &calibration,
              const Progress &progress);
  llvm::Error prepare(Probe &probe, const quantize::Calibration &calibration,
                      bool showsErrors, const Progress &progress);
  llvm::Error writeScratch(const quantize::Calibration &calibration);
  /// The file of the last calibration that was written.
  std::string path() const { return scratch.path() + "/repaired.json"; }

  Calibrator::Options options;
  const SampleSurvey survey;
  RepairTimes times;
  ScratchFolder scratch;
  /// True if the rounding of weights depends on the data that they are
  /// multiplied by.
  bool rounds = false;
  /// Limits on the number of samples for comparing repairs, and on their bytes
  /// including outputs.
  uint64_t mostSamples = 0, mostBytes = UINT64_MAX;
  /// Limit on the bytes of Gram matrices at once.
  uint64_t mostGrams = RoundingFinder::kMostBytes;
  /// The share of the error that a repair must stay below to be kept.
  double mostLeft = 1;
  /// The largest error on the compared samples that needs no repair.
  double mostError = ErrorMeter::kMostError;
  /// Measures repaired artifacts. Only for `auto`, because artifacts compile
  /// and run faster than a probe.
  ErrorMeter *comparator = nullptr;
  /// The time since the first measurement, and the seconds at which the current
  /// repair must end. Only for `auto`.
  std::optional<WorkTime> time;
  double end = 0;
  /// The seconds of a run that rounds values, while layers to keep are found.
  double secondsOfRun = 0;
  /// True if the layers to keep were found on fewer samples, or without trying
  /// all numbers of layers.
  bool isHurried = false;
};

/// Sets the repairs of a calibration in the pipeline. The compiled model is
/// then comparable with one that is compiled with the calibration itself.
/// `path` is the file of the calibration.
void setRepairs(const quantize::Calibration &calibration,
                const std::string &path, PipelineOptions &pipeline);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_REPAIR_H
