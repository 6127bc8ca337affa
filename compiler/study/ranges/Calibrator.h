//===- Calibrator.h - finds the ranges of a model's tensors -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RANGES_CALIBRATOR_H
#define INGOT_COMPILER_STUDY_RANGES_CALIBRATOR_H

#include "compiler/quantize/RulesFile.h"
#include "compiler/study/ranges/BestMethods.h"
#include "compiler/study/ranges/Watch.h"

namespace ingot::study {

/// Compiles a model that shows its tensors, runs it on samples, and chooses the
/// ranges of the tensors.
class Calibrator {
public:
  struct Options {
    ScratchModel::Options model;
    SampleFiles data;
    quantize::MethodChoice method;
    std::vector<quantize::Rule> rules;
    /// The number of samples for the method `best`.
    unsigned numSamples = kUsualSamples;
  };

  /// The seconds that `watch` has taken for its parts.
  struct Times {
    double compiling = 0;
    /// The runs of all samples.
    double runs = 0;
    /// The runs without the time for watching.
    double inference = 0;
  };

  explicit Calibrator(Options options) : options(std::move(options)) {}

  /// Runs all samples and watches their tensors.
  llvm::Error watch(const Progress &progress);
  /// Chooses the ranges of the tensors that were watched.
  llvm::Expected<quantize::Calibration> choose(const Progress &progress,
                                               bool warns = true);

  /// Reads the samples `picked`, and passes each with its outputs in f32 to
  /// `visit`, in ascending order.
  llvm::Error
  forEachKnown(std::vector<PickedSample> picked, const Progress &progress,
               llvm::function_ref<llvm::Error(const KnownSample &)> visit);

  uint64_t numSamples() const { return seen.count(); }
  const Times &times() const { return taken; }
  const SampleSurvey &survey() const { return seen; }
  const std::vector<std::string> &tensors() const { return model.observed(); }
  const quantize::WatchedTensor &seenOf(size_t tensor) const {
    return watched[tensor];
  }

private:
  llvm::Error runAll(Samples &samples, const Progress &progress);
  llvm::Error runOne(Watch &watch, const std::vector<Array> &inputs,
                     const Samples &samples);
  /// Runs on a sample, without watching.
  llvm::Error runOnce(const std::vector<Array> &inputs, const Samples &samples,
                      std::vector<Array> &found);
  void warnOfRanges(const Progress &progress) const;
  /// Warns of samples that make the range of a tensor far larger than all
  /// others.
  void warnOfFarSamples(const Progress &progress) const;
  llvm::Error chooseBestMethods(const Progress &progress);

  const Options options;
  ScratchModel model;
  /// The probe for methods that are chosen by measurement.
  Probe probe;
  SampleSurvey seen;
  Times taken;
  /// The number of samples with values that are not finite, and a message about
  /// the first of them.
  uint64_t numNotFinite = 0;
  std::string firstNotFinite;
  /// The outputs of the first samples, as many as fit into kMostOutputBytes.
  std::vector<std::vector<Array>> outputs;
  uint64_t bytesOfOutputs = 0;
  /// The methods of each tensor.
  std::vector<quantize::MethodChoice> methods;
  std::vector<quantize::WatchedTensor> watched;
  std::vector<RangeChoice> choices;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RANGES_CALIBRATOR_H
