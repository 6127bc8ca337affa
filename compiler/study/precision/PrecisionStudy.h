//===- PrecisionStudy.h - what int8 costs and brings ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_PRECISIONSTUDY_H
#define INGOT_COMPILER_STUDY_PRECISION_PRECISIONSTUDY_H

#include "compiler/study/precision/LayerTimes.h"
#include "compiler/study/precision/Sensitivity.h"
#include "compiler/study/ranges/Calibrator.h"
#include "compiler/study/runs/OutputDifference.h"

namespace ingot::study {

struct StudyOptions {
  std::string model;
  InputSizes sizes;
  /// The calibration file. If empty, the samples are used to calibrate.
  std::string calibration;
  std::vector<std::string> keep;
  int weightBits = 8;
  bool fitPairs = false;
  /// Options by which models are compiled, here as later for the user.
  bool winograd = true;
  OptimizeFor optimize = OptimizeFor::balanced;
  std::vector<quantize::Rule> rules;
  /// The samples on which errors are measured; may be empty.
  SampleFiles data;
  unsigned numSamples = kUsualSamples;
  /// The drop in percentage points that is allowed on the one file of `data`.
  /// If set, the precision of each layer is chosen.
  std::optional<double> maxDrop;
  /// True if a report shows all errors and the histograms of tensors.
  bool isReported = false;
  /// A cache of code shared by the caller's compilations; may be null.
  ObjectCache *objects = nullptr;
};

/// The products of one node, or of several merged nodes.
struct StudiedLayer {
  std::vector<std::string> nodes;
  /// The tensor that the layer reads, and how it becomes bytes, if its range is
  /// known.
  std::string tensor;
  std::optional<quantize::TensorCalibration> range;
  bool isInt8 = false;
  /// True if the layer is in bf16; only if it is not in int8.
  bool isBF16 = false;
  /// Why the layer is not in int8, or why this precision was chosen.
  std::string reason;
  /// The error of the outputs if only this layer is in int8.
  std::optional<double> alone;
  std::optional<double> fp32Ms, int8Ms;
};

/// The size and the time of a whole artifact.
struct StudiedModel {
  uint64_t bytes = 0;
  std::optional<double> latencyMs;
};

/// The result of a search.
struct StudiedSearch {
  double maxDrop = 0;
  bool hasLabels = false;
  uint64_t rows = 0, evaluations = 0;
  double fp32Percent = 0, int8Percent = 0, chosenPercent = 0;
  /// The result with bf16 for layers that are not int8. The percentage of right
  /// rows and, if that is enough, the speedup over fp32.
  std::optional<double> bf16Percent, bf16Speedup;
};

/// The options that compile a model with the chosen precisions.
struct PrecisionChoice {
  /// The calibration file; empty if nothing is in int8. It may be a file of the
  /// study, which exists as long as `files`.
  std::string calibration;
  std::shared_ptr<ScratchFolder> files;
  /// The rules, by the precision that they keep nodes from.
  std::vector<std::string> keep, keepFromInt8;
  bool isBF16 = false;

  void applyTo(PipelineOptions &pipeline) const;
};

/// The result of a study.
struct Study {
  std::string model, method;
  uint64_t calibrationSamples = 0, samples = 0;
  std::optional<TimedMachine> machine;
  /// All layers in fp32; all in int8 except kept ones; and the chosen
  /// precisions.
  StudiedModel fp32, int8, chosen;
  std::vector<OutputDifference> outputs;
  /// The layers in the model's order.
  std::vector<StudiedLayer> layers;
  /// The order of layers by error, and the error that remains without the
  /// worst. Set only if there were samples.
  std::optional<Sensitivity> sensitivity;
  std::vector<std::string> keepArguments;
  /// The histograms of the tensors that layers read, by name.
  std::map<std::string, quantize::Histogram> histograms;
  std::optional<StudiedSearch> search;
  PrecisionChoice choice;
};

/// Compiles a model in fp32 and in int8, and measures both layer by layer.
/// Measures the error of the outputs that each layer in int8 causes. Chooses
/// precisions if requested.
llvm::Expected<Study> studyPrecision(StudyOptions options,
                                     const Progress &progress);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_PRECISIONSTUDY_H
