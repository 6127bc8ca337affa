//===- Comparison.h - a compiled model beside a reference -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_COMPARISON_H
#define INGOT_COMPILER_STUDY_COMPARE_COMPARISON_H

#include "client/inputs/Inputs.h"
#include "compiler/study/compare/ScoredPair.h"
#include "compiler/study/compare/Tolerance.h"
#include "compiler/study/compare/Verdict.h"
#include "compiler/study/precision/Sensitivity.h"

namespace ingot::study {

struct CompareOptions {
  /// The compiled model, and the ONNX model that it was compiled from.
  std::string artifact, model;
  /// The samples. If empty, `inputs` describes a single sample.
  std::vector<std::string> data;
  tools::InputSpecs inputs;
  /// The sizes that the artifact was compiled with.
  InputSizes sizes;
  /// True to compare with ONNX Runtime, else with fp32.
  bool usesOnnxRuntime = false;
  /// The Python interpreter with ONNX Runtime. If empty, `python3`.
  std::string python;
  Tolerance tolerance;
  unsigned threads = 0;
  /// Device that the artifact runs on. If empty, libingot chooses.
  std::string device;
  /// The metric that also judges the outputs. If it is not given, the outputs
  /// are judged only if the samples have labels.
  MetricName metric;
  /// The most seconds of one run of the metric's command.
  unsigned metricSeconds = 60;

  /// True to compare the tensors that int8 quantizes, too.
  bool perLayer = false;
  /// True to measure the error of the outputs for each layer alone in int8.
  bool sensitivity = false;
  // For `perLayer` and `sensitivity`: a calibration file that replaces the
  // artifact's, and a file of rules that have precedence over the artifact's.
  std::string calibration, rules;
  std::vector<std::string> keep;
  /// The number of samples for `sensitivity`; 0 for the default.
  unsigned numSamples = 0;

  /// Returns true if the model must be compiled again, with the artifact's
  /// options.
  bool isByLayer() const { return perLayer || sensitivity; }
};

/// An output, and the number of its elements beyond the tolerance.
struct ComparedOutput : OutputDifference {
  Excess excess;
  /// The number of samples in which the shape differs from the reference's. The
  /// errors leave them out.
  uint64_t otherShapes = 0;
  /// True if the output is beyond any bound.
  bool isBeyond = false;
};

/// An inner tensor of the model, compared between both precisions.
struct ComparedTensor {
  std::string name;
  Difference difference;
};

/// The result of a comparison.
struct Comparison {
  uint64_t samples = 0;
  /// The precision of the artifact.
  std::string precision;
  /// The version of ONNX Runtime. "" if the reference is the model in fp32.
  std::string onnxRuntime;
  std::vector<ComparedOutput> outputs;
  Verdict verdict;
  /// The tensors in the model's order; set if requested.
  std::optional<std::vector<ComparedTensor>> tensors;
  std::optional<Sensitivity> sensitivity;
  /// The scores by a metric, if the outputs are judged.
  std::optional<PairScore> score;

  /// Returns true if all outputs are within the tolerance.
  bool isWithin() const;
};

/// Runs a compiled model and a reference on samples, and compares the outputs.
llvm::Expected<Comparison> compare(CompareOptions options,
                                   const Progress &progress);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_COMPARISON_H
