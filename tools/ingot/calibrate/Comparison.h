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

/// Command line of `ingot compare`.
struct CompareOptions {
  std::string artifact, model, calibration, rules;
  std::vector<std::string> data, keep;
  /// Sizes, as the model was compiled with, and the sample of --input.
  InputSpecs inputs;
  /// Python interpreter that has ONNX Runtime; empty: `python3`.
  std::string python;
  bool usesOnnxRuntime = false;
  Tolerance tolerance;
  unsigned threads = 0;
  /// 0: as usual.
  unsigned numSamples = 0;
  bool perLayer = false, sensitivity = false, json = false;

  /// Whether the model is compiled once more, as the artifact was.
  bool isByLayer() const { return perLayer || sensitivity; }
};

/// A tensor inside of the model, as in both precisions.
struct Inner {
  std::string name;
  Difference difference;
};

/// Samples that ran and wait for the reference.
struct Waiting {
  std::vector<Tensors> inputs, got;
  std::vector<std::string> places;
  uint64_t bytes = 0;
};

/// A compiled model beside a reference, on samples: its ONNX file compiled in
/// fp32, or ONNX Runtime.
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
  /// Samples of --data; null with --input.
  std::unique_ptr<Samples> samples;
  uint64_t numRead = 0;
  Preprocess preprocess;
  /// Sizes that the reference is compiled with.
  std::vector<std::string> shapes, dims;
  OnnxRuntime peer;
  /// What the artifact was compiled with, unless the command line says it.
  PipelineOptions pipeline;
  std::vector<OutputDifference> outputs;
  /// What is beyond the tolerance in each output.
  std::vector<Excess> excess;
  /// How large the outputs' errors are in each sample.
  SampleSurvey survey;
  std::vector<Inner> layers;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_COMPARISON_H
