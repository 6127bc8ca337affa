//===- PrecisionStudy.h - what int8 costs and brings ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_PRECISIONSTUDY_H
#define INGOT_COMPILER_STUDY_PRECISION_PRECISIONSTUDY_H

#include "compiler/study/metric/Judge.h"
#include "compiler/study/precision/Candidates.h"
#include "compiler/study/precision/LayerTimes.h"
#include "compiler/study/precision/Sensitivity.h"
#include "compiler/study/ranges/Calibrator.h"
#include "compiler/study/runs/OutputDifference.h"

namespace ingot::study {

struct StudyOptions {
  std::string model;
  InputSizes sizes;
  /// The calibration file. If empty, the study calibrates with the samples.
  std::string calibration;
  std::vector<std::string> keep;
  /// Options for all compilations of the study, equal to those of the user's
  /// later compilation. They name no precision.
  PipelineOptions pipeline;
  std::vector<quantize::Rule> rules;
  /// The samples for measuring errors; may be empty.
  SampleFiles data;
  unsigned numSamples = kUsualSamples;
  /// The allowed drop of accuracy in percentage points, on the single file of
  /// `data`. If set, the study chooses the precision of each layer.
  std::optional<double> maxDrop;
  /// The metric of accuracy.
  JudgeOptions judge;
  /// True if a report needs all errors and the histograms of tensors.
  bool isReported = false;
  /// A cache of code shared by the caller's compilations; may be null.
  ObjectCache *objects = nullptr;
};

/// The products of a node, or of several merged nodes.
struct StudiedLayer {
  std::vector<std::string> nodes;
  /// The tensor that the layer reads, and its quantization if its range is
  /// known.
  std::string tensor;
  std::optional<quantize::TensorCalibration> range;
  bool isInt8 = false;
  /// True if the layer is in bf16, which implies that it is not in int8.
  bool isBF16 = false;
  /// The reason why the layer is not in int8, or why this precision was chosen.
  std::string reason;
  /// The error of the outputs if only this layer is in int8.
  std::optional<double> alone;
  std::optional<double> fp32Ms, int8Ms;
};

/// The size and the time of an artifact.
struct StudiedModel {
  uint64_t bytes = 0;
  std::optional<double> latencyMs;
};

/// The result of a search.
struct StudiedSearch {
  double maxDrop = 0;
  bool hasLabels = false;
  /// The metric of the percentages, and the output that it judges. They are
  /// shares of right rows for argmax. A command judges all outputs.
  std::string metric, output;
  bool isCommand = false;
  uint64_t rows = 0, evaluations = 0;
  double fp32Percent = 0, int8Percent = 0, chosenPercent = 0;
  /// The result with bf16 for layers that are not int8: the score in percent,
  /// and the speedup over fp32. The speedup is set only if the percentage
  /// is high enough.
  std::optional<double> bf16Percent, bf16Speedup;
  /// Other numbers of the metric with the chosen precisions.
  std::vector<Detail> details;
  /// The models that were compared, and the name of the chosen one.
  std::vector<Candidate> candidates;
  std::string chosen;
};

/// Returns a score in words: "98.20 % right", "97.10 % by regression", or
/// "0.93 by the command".
std::string describeScore(const StudiedSearch &search, double percent);
/// Returns a score in words: "98.20 %", or "0.93" for a command.
std::string shortScore(const StudiedSearch &search, double percent);

/// The options that compile a model with the chosen precisions.
struct PrecisionChoice {
  /// The calibration file; empty if nothing is in int8. If the study has
  /// written the file, it exists as long as `files`.
  std::string calibration;
  std::shared_ptr<ScratchFolder> files;
  /// The keep rules, as in the fields of PipelineOptions with these names.
  std::vector<std::string> keep, keepFromInt8;
  bool isBF16 = false, isDynamic = false;

  void applyTo(PipelineOptions &pipeline) const;
};

/// The result of a study.
struct Study {
  std::string model, method;
  uint64_t calibrationSamples = 0, samples = 0;
  std::optional<TimedMachine> machine;
  /// The models with all layers in fp32, with all layers except kept ones in
  /// int8, and with the chosen precisions.
  StudiedModel fp32, int8, chosen;
  std::vector<OutputDifference> outputs;
  /// The layers in the model's order.
  std::vector<StudiedLayer> layers;
  /// The layers ordered by error, and the remaining error if the worst layers
  /// are kept. Set only if there were samples.
  std::optional<Sensitivity> sensitivity;
  std::vector<std::string> keepArguments;
  /// The histograms of the tensors that layers read, by name.
  std::map<std::string, quantize::Histogram> histograms;
  std::optional<StudiedSearch> search;
  PrecisionChoice choice;
};

/// Compiles a model in fp32 and in int8, and measures the time of each layer in
/// both. Measures the error of the outputs that each layer in int8 causes.
/// Chooses precisions if requested.
llvm::Expected<Study> studyPrecision(StudyOptions options,
                                     const Progress &progress);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_PRECISIONSTUDY_H
