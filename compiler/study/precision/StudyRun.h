//===- StudyRun.h - the work of a precision study ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_STUDYRUN_H
#define INGOT_COMPILER_STUDY_PRECISION_STUDYRUN_H

#include "compiler/driver/DecisionTrace.h"
#include "compiler/study/precision/Evaluation.h"
#include "compiler/study/precision/PrecisionStudy.h"

namespace ingot::study {

/// Returns true if a node is in both lists.
bool shareNodes(const std::vector<std::string> &a,
                const std::vector<std::string> &b);

/// Returns the runs of a model for an evaluation.
Evaluation::Run runsOf(const ScratchModel &model);

/// A model that the search may take, and the precisions of its layers.
struct Trial {
  std::string name;
  ScratchModel *model = nullptr;
  Score score;
  std::vector<StudiedLayer> layers;
  std::optional<double> milliseconds;
};

/// A model that does not meet the budget: its name and its score.
struct Missed {
  std::string name;
  double percent = 0;
};

/// Does the work of studyPrecision.
class StudyRun {
public:
  explicit StudyRun(StudyOptions options) : options(std::move(options)) {}

  llvm::Error run(const Progress &progress);

  Study takeResult() { return std::move(study); }

private:
  ScratchModel::Options scratchOptions() const;
  llvm::Error findCalibration(const Progress &progress);
  llvm::Error prepareModels(const Progress &progress);
  void addLayers(const std::vector<Decision> &decisions);
  unsigned numPicked() const;
  llvm::Error readSamples(const Progress &progress);
  llvm::Error measureTimes(const Progress &progress);
  llvm::Error measureErrors(const Progress &progress);
  llvm::Error measureOutputs(const Progress &progress);

  // In TryCandidates.cpp.
  llvm::Error runReference(const Progress &progress);
  llvm::Error choose(const Progress &progress);
  llvm::Error tryUniform(const std::vector<StudiedLayer> &uniform,
                         const Progress &progress);
  llvm::Error tryDynamic(const Progress &progress);
  llvm::Error tryBF16(const Progress &progress);
  llvm::Error takeBest(const Progress &progress);
  Candidate candidateOf(const Trial &trial) const;
  void take(size_t trial);
  std::string describeBudget() const;
  llvm::Expected<bool> hasFasterMiss(const Progress &progress);

  // In AutoPrecision.cpp.
  void dropSlowLayers();
  llvm::Error orderLayers(const Progress &progress);
  Evaluation::Run probeRun(size_t numWide, const Progress &progress);
  llvm::Expected<bool> reachesBudget(size_t numWide, const Progress &progress);
  llvm::Expected<std::optional<size_t>>
  findFewestWide(const Progress &progress);
  void apply(size_t numWide);
  double leastPercent() const;
  bool isRight(double percent) const;
  /// Returns true if the choice is the artifact with all layers in int8.
  bool isInt8Artifact(size_t numWide) const {
    return numWide == 0 && !hasSlowLayers;
  }
  llvm::Error compileChoice(size_t numWide, const Progress &progress);
  llvm::Expected<Score> rateChoice(size_t numWide, const Progress &progress);
  llvm::Expected<std::optional<Score>> widen(const Progress &progress);
  llvm::Error chooseLayers(const Progress &progress);

  bool hasInt8() const;
  /// Returns the keep rules for nodes that are not in int8.
  std::vector<std::string> keepRules() const;
  /// Returns true if the search has taken this model.
  bool isTaken(const std::optional<ScratchModel> &model) const;
  /// Returns the options for compiling with the precisions chosen so far, and
  /// with bf16 for layers that are not in int8 if `isBF16` is set.
  PrecisionChoice findChoice(bool isBF16) const;

  const StudyOptions options;
  std::shared_ptr<ScratchFolder> scratch;
  std::string calibrationPath;
  quantize::Calibration calibration;
  ScratchModel fp32, int8;
  /// The artifact with some layers in int8. Set once it is compiled.
  std::optional<ScratchModel> mixed;
  /// The artifact of the last choice: `int8` or `mixed`.
  ScratchModel *tried = nullptr;
  /// The artifact in int8-dynamic. Set once it is tried.
  std::optional<ScratchModel> dynamic;
  /// The artifact with some layers in bf16. Set once it is tried.
  std::optional<ScratchModel> half;
  /// The models that meet the budget, first fp32; and those that do not.
  std::vector<Trial> trials;
  std::vector<Missed> missed;
  /// The trial that is taken.
  size_t taken = 0;
  Probe probe;
  /// The survey of the samples from calibration.
  SampleSurvey survey;
  std::vector<Array> firstSample;
  std::unique_ptr<Evaluation> evaluation;
  /// The indices of units that are faster in int8, in the order of widening.
  std::vector<size_t> order;
  /// True if `order` lacks layers of the int8 artifact, which are slower.
  bool hasSlowLayers = false;
  Study study;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_STUDYRUN_H
