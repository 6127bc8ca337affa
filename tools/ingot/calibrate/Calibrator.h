//===- Calibrator.h - finds the ranges of a model's tensors -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_CALIBRATOR_H
#define INGOT_TOOLS_INGOT_CALIBRATE_CALIBRATOR_H

#include "compiler/quantize/RulesFile.h"
#include "tools/ingot/calibrate/BestMethods.h"
#include "tools/ingot/calibrate/Watch.h"

namespace ingot::tools {

/// Compiles a model that shows its tensors, runs it on samples, and chooses
/// ranges.
class Calibrator {
public:
  struct Options {
    ScratchModel::Options model;
    std::vector<std::string> data;
    Preprocess preprocess;
    quantize::MethodChoice method;
    std::vector<quantize::Rule> rules;
    /// The number of samples for the method `best`.
    unsigned numSamples = kUsualSamples;
  };

  Calibrator(const Options &options, const OptionParser &parser,
             const Progress &progress)
      : options(options), progress(progress), model(parser, progress),
        probe(parser, progress) {}

  // Each function returns 0, or the exit code after an error was printed.

  /// Runs all samples and watches their tensors.
  int watch();
  /// Chooses the ranges of the tensors that were watched.
  int choose(quantize::Calibration &result, bool warns = true);

  /// Runs on samples that represent all samples that were watched. Picks at
  /// most `most` samples, which take at most `mostBytes` with their outputs.
  int readPicked(uint64_t most, uint64_t mostBytes,
                 std::vector<KnownSample> &picked);

  uint64_t numSamples() const { return seen.count(); }
  const SampleSurvey &survey() const { return seen; }
  const std::vector<std::string> &tensors() const { return model.observed(); }
  const quantize::WatchedTensor &seenOf(size_t tensor) const {
    return watched[tensor];
  }

private:
  std::string runAll(Samples &samples);
  std::string runOne(Watch &watch, const std::vector<Array> &inputs,
                     const Samples &samples);
  void warn() const;
  int chooseBestMethods();

  const Options &options;
  const Progress &progress;
  ScratchModel model;
  /// The probe for methods that are chosen by measurement.
  Probe probe;
  SampleSurvey seen;
  /// The bytes of the first sample's outputs.
  uint64_t bytesOfOutputs = 0;
  /// The methods of each tensor.
  std::vector<quantize::MethodChoice> methods;
  std::vector<quantize::WatchedTensor> watched;
  std::vector<RangeChoice> choices;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_CALIBRATOR_H
