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
  /// True for only those repairs that the outputs' error calls for.
  bool isAutomatic = true;
  std::vector<RepairKind> kinds;
  bool isNone() const { return !isAutomatic && kinds.empty(); }
};

/// Reads `auto`, `none` or a list as `equalize,smooth,round,bias`. Returns an
/// error message that follows the option's name, or "".
std::string parseRepairs(const std::string &text, RepairChoice &choice);

/// A repair that was tried.
struct RepairTrial {
  std::string name;
  /// The error of the outputs without and with the repair.
  double before = 0, after = 0;
  bool isKept() const { return after < before; }
};

/// The measurements of the choice `auto`.
struct RepairOutcome {
  /// The error of the outputs: as calibrated, and with the repairs that were
  /// kept.
  double before = 0, after = 0;
  uint64_t samples = 0;
};

/// Tries repairs of a model one after the other. Keeps a repair if it reduces
/// the outputs' error.
class Repairer {
public:
  /// The error above which `auto` tries repairs. Networks below it lost less
  /// than half a percentage point of accuracy (docs/measured/accuracy.md).
  static constexpr double kMostError = 0.08;
  /// The number of samples for comparing repairs. More samples are needed than
  /// for the question if repairs are needed, since differences are smaller.
  static constexpr uint64_t kComparedSamples = 32;
  /// The most bytes of samples and outputs that are kept to measure errors for
  /// `auto`.
  static constexpr uint64_t kMostKept = uint64_t(256) << 20;

  /// `survey` is that of the samples that were used to calibrate.
  Repairer(Calibrator::Options options, SampleSurvey survey)
      : options(std::move(options)), survey(std::move(survey)),
        mostSamples(this->options.numSamples) {}

  /// Repairs a calibration. Returns the repairs that were tried.
  llvm::Expected<std::vector<RepairTrial>>
  run(const std::vector<RepairKind> &kinds, quantize::Calibration &calibration,
      const Progress &progress);
  /// Repairs a calibration if its error is too large. The error is that of the
  /// int8 model on `samples`, whose f32 outputs are known. Cheap repairs are
  /// tried first, then rounded weights, until the error on `compared` samples
  /// is at most kMostError.
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
  /// Applies a repair to `state`, and keeps it if the error falls.
  llvm::Error tryOne(RepairKind kind, State &state,
                     std::vector<RepairTrial> &trials,
                     const Progress &progress);
  /// Applies those repairs that the error still calls for.
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

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_REPAIR_H
