//===- Repair.h - repairs that are measured ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPAIR_REPAIR_H
#define INGOT_COMPILER_STUDY_REPAIR_REPAIR_H

#include "compiler/study/ranges/Calibrator.h"
#include "compiler/study/runs/Stages.h"

namespace ingot::study {

enum class RepairKind { equalize, smooth, round, bias };

/// The repairs that a command tries.
struct RepairChoice {
  /// True to try only repairs that the outputs' error makes necessary.
  bool isAutomatic = true;
  std::vector<RepairKind> kinds;
  bool isNone() const { return !isAutomatic && kinds.empty(); }
};

/// Parses `auto`, `none` or a list such as `equalize,smooth,round,bias`.
/// Returns "", or an error text that continues the option's name.
std::string parseRepairs(const std::string &text, RepairChoice &choice);

/// A repair that was tried.
struct RepairTrial {
  std::string name;
  /// The error of the outputs without the repair and with it.
  double before = 0, after = 0;
  bool isKept() const { return after < before; }
};

/// The measurements of the choice `auto`.
struct RepairOutcome {
  /// The error of the outputs as calibrated, and with the kept repairs.
  double before = 0, after = 0;
  uint64_t samples = 0;
};

/// Tries repairs of a model one after the other. Keeps a repair if it reduces
/// the outputs' error.
class Repairer {
public:
  /// The error above which `auto` tries repairs. Networks with a smaller error
  /// lost less than half a percentage point of accuracy
  /// (docs/measured/accuracy.md).
  static constexpr double kMostError = 0.08;
  /// The number of samples for comparing repairs. A comparison needs more
  /// samples than the decision to repair, because its differences are smaller.
  static constexpr uint64_t kComparedSamples = 32;
  /// The most bytes of samples and outputs that `auto` keeps to measure errors.
  static constexpr uint64_t kMostKept = uint64_t(256) << 20;

  /// `survey` describes the samples from calibration.
  Repairer(Calibrator::Options options, SampleSurvey survey)
      : options(std::move(options)), survey(std::move(survey)),
        mostSamples(this->options.numSamples) {}

  /// Repairs a calibration. Returns the repairs that it has tried.
  llvm::Expected<std::vector<RepairTrial>>
  run(const std::vector<RepairKind> &kinds, quantize::Calibration &calibration,
      const Progress &progress);
  /// Repairs a calibration if its error is too large. The error is that of the
  /// int8 model on `samples`, whose f32 outputs are known. Tries cheap repairs
  /// first, then rounded weights. Stops when the error on `compared` samples is
  /// at most kMostError.
  llvm::Expected<std::vector<RepairTrial>>
  runAutomatic(llvm::ArrayRef<KnownSample> samples, uint64_t compared,
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
  /// Applies the repairs in `kinds`, as far as the error makes them necessary.
  llvm::Error tryNeeded(llvm::ArrayRef<RepairKind> kinds, State &state,
                        std::vector<RepairTrial> &trials, Stages &stages);
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
  llvm::Expected<double> measureInt8(const quantize::Calibration &calibration,
                                     llvm::ArrayRef<KnownSample> samples,
                                     const Progress &progress);
  llvm::Error prepare(Probe &probe, const quantize::Calibration &calibration,
                      bool showsErrors, const Progress &progress);
  llvm::Error writeScratch(const quantize::Calibration &calibration);
  /// The file of the last calibration that was written.
  std::string path() const { return scratch.path() + "/repaired.json"; }

  const Calibrator::Options options;
  const SampleSurvey survey;
  ScratchFolder scratch;
  /// True if the rounding of weights depends on the data that they are
  /// multiplied by.
  bool rounds = false;
  /// Limits on the number of samples for measuring errors, and on their bytes
  /// including outputs. `measured` is the actual number.
  uint64_t mostSamples = 0, mostBytes = UINT64_MAX, measured = 0;
};

/// Sets the repairs of a calibration in the pipeline. The compiled model is
/// then comparable with one that is compiled with the calibration itself.
/// `path` is the file of the calibration.
void setRepairs(const quantize::Calibration &calibration,
                const std::string &path, PipelineOptions &pipeline);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_REPAIR_H
