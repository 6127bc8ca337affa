//===- PrecisionStudy.h - what int8 costs and brings ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_PRECISIONSTUDY_H
#define INGOT_TOOLS_INGOT_CALIBRATE_PRECISIONSTUDY_H

#include "tools/ingot/calibrate/Calibrator.h"
#include "tools/ingot/calibrate/Evaluation.h"
#include "tools/ingot/calibrate/LayerTimes.h"
#include "tools/ingot/calibrate/OutputDifference.h"
#include "tools/ingot/calibrate/Sensitivity.h"

namespace ingot::tools {

struct StudyOptions {
  std::string model;
  std::vector<std::string> shapes, dims;
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
  std::vector<std::string> data;
  Preprocess preprocess;
  unsigned numSamples = kUsualSamples;
  /// The drop in percentage points that is allowed on the one file of `data`.
  /// If set, the precision of each layer is chosen.
  std::optional<double> maxDrop;
  /// True if a report shows all errors and the histograms of tensors.
  bool isReported = false;
  /// A cache of code shared by the command's compilations; may be null.
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

/// Returns true if both lists have a node in common.
bool shareNodes(const std::vector<std::string> &a,
                const std::vector<std::string> &b);

/// Runs an artifact on a sample. Returns an error message, or "".
std::string runOnce(const ScratchModel &model, const std::vector<Array> &inputs,
                    std::vector<Array> &outputs);

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
};

/// Compiles a model in fp32 and in int8, and measures both layer by layer.
/// Measures the error of the outputs that each layer in int8 causes. Chooses
/// precisions if requested.
class PrecisionStudy {
public:
  PrecisionStudy(const StudyOptions &options, const OptionParser &parser)
      : options(options), parser(parser), progress(parser),
        fp32(parser, progress), int8(parser, progress),
        probe(parser, progress) {}

  /// Returns 0, or the exit code after an error was printed.
  int run();

  const Study &result() const { return study; }
  /// Sets the options that compile with the chosen precisions. They may name a
  /// temporary file, which is deleted with this object.
  void choosePrecisions(PipelineOptions &pipeline) const;

private:
  ScratchModel::Options scratchOptions() const;
  int findCalibration();
  int prepareModels();
  unsigned numPicked() const;
  std::string readSamples();
  std::string measureErrors();
  std::string measureOutputs();

  // AutoPrecision.cpp
  int choose();
  std::string runReference();
  void dropSlowLayers();
  std::string orderLayers();
  Evaluation::Run probeRun(size_t numWide);
  std::string findFewestWide(size_t &numWide);
  void apply(size_t numWide);
  double leastPercent() const;
  bool isRight(double percent) const;
  std::string describeBudget(double percent) const;
  int compileChoice(size_t numWide, double &percent);
  int widen();
  int chooseLayers();
  int chooseInt8();
  int chooseBF16();

  bool hasInt8() const;
  /// Returns the keep rules of nodes that are not int8.
  std::vector<std::string> keepRules() const;

  const StudyOptions &options;
  const OptionParser &parser;
  const Progress progress;
  ScratchFolder scratch;
  std::string calibrationPath;
  quantize::Calibration calibration;
  ScratchModel fp32, int8;
  /// The artifact with some layers in int8, if it was compiled.
  std::optional<ScratchModel> mixed;
  /// The artifact of the last choice: `int8` or `mixed`.
  ScratchModel *tried = nullptr;
  /// The artifact with some layers in bf16, if it was tried.
  std::optional<ScratchModel> half;
  Probe probe;
  /// The survey of the samples that were used to calibrate.
  SampleSurvey survey;
  std::vector<Array> firstSample;
  std::unique_ptr<Evaluation> evaluation;
  /// The indices of units that are faster in int8, sorted by the order in which
  /// they are widened.
  std::vector<size_t> order;
  Study study;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_PRECISIONSTUDY_H
