//===- Comparison.h - a compiled model beside a reference -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_COMPARISON_H
#define INGOT_TOOLS_INGOT_CALIBRATE_COMPARISON_H

#include "tools/ingot/calibrate/OnnxRuntime.h"
#include "tools/ingot/calibrate/Probe.h"
#include "tools/ingot/calibrate/SampleSurvey.h"
#include "tools/ingot/calibrate/Samples.h"
#include "tools/ingot/calibrate/ScratchModel.h"
#include "tools/ingot/calibrate/Sensitivity.h"
#include "tools/ingot/calibrate/Tolerance.h"
#include "tools/ingot/inputs/Inputs.h"

namespace ingot::tools {

/// The command line of `ingot compare`.
struct CompareOptions {
  std::string artifact, model, calibration, rules;
  std::vector<std::string> data, keep;
  /// The sizes that the model was compiled with, and the sample of --input.
  InputSpecs inputs;
  /// The Python interpreter that has ONNX Runtime. If empty, `python3`.
  std::string python;
  bool usesOnnxRuntime = false;
  Tolerance tolerance;
  unsigned threads = 0;
  /// The number of samples; 0 for the default.
  unsigned numSamples = 0;
  bool perLayer = false, sensitivity = false, json = false;

  /// Returns true if the model is compiled once more, with the artifact's
  /// options.
  bool isByLayer() const { return perLayer || sensitivity; }
};

/// A tensor inside of the model, compared between both precisions.
struct Inner {
  std::string name;
  Difference difference;
};

/// Samples that have run and wait for the reference.
struct Waiting {
  std::vector<Tensors> inputs, got;
  std::vector<std::string> places;
  uint64_t bytes = 0;
};

/// Compares a compiled model with a reference on samples. The reference is its
/// ONNX file compiled in fp32, or ONNX Runtime.
class Comparison {
public:
  Comparison(const CompareOptions &options, const OptionParser &parser)
      : options(options), parser(parser), progress(parser),
        reference(parser, progress), quantized(parser, progress),
        probe(parser, progress) {}

  int run();

private:
  std::string checkSignature() const;
  std::string findPrecision();
  int readKeep();
  ScratchModel::Options scratchOptions() const;
  void findSizes();
  int preparePeer();
  int prepare();
  std::string runAll();
  int findSensitivity();
  int open();
  bool next(Tensors &inputs, std::string &problem);
  std::string where() const;
  std::string runReference(const std::vector<Tensors> &inputs,
                           std::vector<Tensors> &wanted);
  std::string compareTogether(Waiting &waiting);
  std::string compareOutputs(const Tensors &wanted, const Tensors &got,
                             const std::string &place);
  bool isBeyond(size_t output) const;
  bool isWithin() const;
  std::string compareLayers(const std::vector<Array> &inputs);
  void print() const;
  std::string referenceName() const;
  void printExcess() const;
  void printLayers() const;
  void printJson() const;

  const CompareOptions &options;
  const OptionParser &parser;
  const Progress progress;
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
  ScratchModel reference, quantized;
  Probe probe;
  Sensitivity sensitivity;
  quantize::Calibration calibration;
  /// The samples of --data; null with --input.
  std::unique_ptr<Samples> samples;
  uint64_t numRead = 0;
  Preprocess preprocess;
  /// The sizes that the reference is compiled with.
  std::vector<std::string> shapes, dims;
  OnnxRuntime peer;
  /// The artifact's options, unless the command line overrides them.
  PipelineOptions pipeline;
  std::vector<OutputDifference> outputs;
  /// For each output, the elements beyond the tolerance.
  std::vector<Excess> excess;
  /// The size of the outputs' errors in each sample.
  SampleSurvey survey;
  std::vector<Inner> layers;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_COMPARISON_H
