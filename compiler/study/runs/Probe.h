//===- Probe.h - what int8 does, layer by layer -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_PROBE_H
#define INGOT_COMPILER_STUDY_RUNS_PROBE_H

#include "compiler/quantize/Ranges.h"
#include "compiler/study/runs/ReadSamples.h"
#include "compiler/study/runs/ScratchModel.h"
#include "passes/quantize/CalibrationFile.h"

namespace ingot::study {

/// The default number of samples if each layer needs at least one run of each
/// sample.
constexpr unsigned kUsualSamples = 8;

uint64_t bytesOf(const std::vector<Array> &arrays);

/// A sample and its outputs in f32.
struct KnownSample {
  std::vector<Array> inputs, outputs;
  std::string where;
  /// The number of samples that this sample represents.
  double weight = 1;
};

/// A model in f32 that can round values as int8 does. Inputs of each run select
/// what is rounded, so a single compilation serves all comparisons of
/// precisions.
class Probe {
public:
  /// Compiles the model.
  llvm::Error prepare(const ScratchModel::Options &options,
                      const Progress &progress);

  /// Returns the units. A unit consists of the products of one node, and a run
  /// can round it. Units without a range in the calibration are never rounded.
  const std::vector<PrecisionFlag> &units() const {
    return model.precisionFlags();
  }
  const std::vector<std::string> &tensors() const { return model.observed(); }
  /// Returns the tensor that the unit reads. Returns "" for a unit in a loop or
  /// a branch.
  std::string tensorOf(size_t unit) const;
  ScratchModel &scratch() { return model; }

  void setRange(size_t tensor, const quantize::Encoding &encoding);
  /// Makes the rounding of the tensor exact: its values do not change.
  void setExact(size_t tensor);
  /// Sets the ranges of the tensors that a layer can round. The calibration
  /// must belong to this model. Errors use `name` for the calibration.
  llvm::Error setRanges(const quantize::Calibration &calibration,
                        const std::string &name);
  /// Keeps a unit in f32, for every choice.
  void forbid(size_t unit) { forbidden[unit] = true; }
  /// Returns true if a choice can round the unit.
  bool canBeOn(size_t unit) const;

  /// Reads samples, in place of earlier ones, and computes their outputs in
  /// f32. Stops after the first sample with which inputs and outputs exceed
  /// `mostBytes` in total.
  llvm::Error readSamples(Samples &samples, const Progress &progress,
                          uint64_t mostBytes = UINT64_MAX);
  uint64_t numSamples() const { return kept.size(); }

  const std::vector<Array> &inputsOf(size_t sample) const {
    return kept[sample].inputs;
  }
  double weightOf(size_t sample) const { return kept[sample].weight; }

  /// Computes the mean error of each channel of a unit's int8 product over all
  /// samples, positive if the result is too large. Units of several products
  /// get no values. The model must be compiled to show errors.
  llvm::Error meanErrors(Samples &samples, const Progress &progress,
                         std::vector<std::vector<double>> &errors);

  /// Runs on a sample that the caller provides.
  llvm::Error runOnce(const std::vector<bool> &isOn,
                      const std::vector<Array> &inputs,
                      std::vector<Array> &outputs);

  /// Returns the layers of a run on the first sample that was read.
  llvm::Expected<std::vector<tools::Layer>> layersOfRun();

  /// Runs on all samples. Passes the outputs and the reference's outputs to
  /// `visit`.
  using Visit = llvm::function_ref<llvm::Error(
      size_t sample, const std::vector<Array> &wanted,
      const std::vector<Array> &found)>;
  llvm::Error run(const std::vector<bool> &isOn, const Progress &progress,
                  Visit visit);

  /// Makes the outputs of this choice the reference for later comparisons.
  llvm::Error compareWith(const std::vector<bool> &isOn,
                          const Progress &progress);

  /// Computes the error of each output over all samples. Returns the largest;
  /// see OutputErrors.h.
  llvm::Expected<double> measure(const std::vector<bool> &isOn,
                                 const Progress &progress);

private:
  llvm::Error runOne(KnownSample &sample, std::vector<Array> &outputs);
  void turn(const std::vector<bool> &isOn);

  ScratchModel model;
  /// The inputs that follow those of the model: precision flags and ranges.
  std::vector<Array> settings;
  std::vector<bool> ranged, forbidden;
  std::vector<KnownSample> kept;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_PROBE_H
