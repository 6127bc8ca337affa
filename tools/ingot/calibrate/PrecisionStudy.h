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
  /// File of ingot calibrate; empty: the samples are calibrated on.
  std::string calibration;
  std::vector<std::string> keep;
  int weightBits = 8;
  bool fitPairs = false;
  /// Models are measured as they will be compiled.
  bool winograd = true;
  OptimizeFor optimize = OptimizeFor::balanced;
  std::vector<quantize::Rule> rules;
  /// Samples for errors; may be none.
  std::vector<std::string> data;
  Preprocess preprocess;
  unsigned numSamples = kUsualSamples;
  /// The precision of each layer is chosen: a drop of so many percent of what
  /// is right is allowed on the one file of `data`.
  std::optional<double> maxDrop;
  /// A report shows all errors and what was seen of tensors.
  bool isReported = false;
  /// Code of the command's compilations; may be null.
  ObjectCache *objects = nullptr;
};

/// Products of one node, or of several that became one.
struct StudiedLayer {
  std::vector<std::string> nodes;
  /// What it reads, and how that becomes bytes, if a range is known.
  std::string tensor;
  std::optional<quantize::TensorCalibration> range;
  bool isInt8 = false;
  /// If not: whether it is in bf16.
  bool isBF16 = false;
  /// Why not, or why the choice fell so.
  std::string reason;
  /// Of the outputs when it alone is in int8.
  std::optional<double> alone;
  std::optional<double> fp32Ms, int8Ms;
};

/// Whether both have a node in common.
bool shareNodes(const std::vector<std::string> &a,
                const std::vector<std::string> &b);

/// Runs an artifact on a sample. Returns what is wrong, or "".
std::string runOnce(const ScratchModel &model, const std::vector<Array> &inputs,
                    std::vector<Array> &outputs);

/// A whole artifact.
struct StudiedModel {
  uint64_t bytes = 0;
  std::optional<double> latencyMs;
};

/// What became of a search.
struct StudiedSearch {
  double maxDrop = 0;
  bool hasLabels = false;
  uint64_t rows = 0, evaluations = 0;
  double fp32Percent = 0, int8Percent = 0, chosenPercent = 0;
  /// With what is not int8 in bf16: what is right, and, if that is enough, how
  /// many times as fast as fp32 it is.
  std::optional<double> bf16Percent, bf16Speedup;
};

struct Study {
  std::string model, method;
  uint64_t calibrationSamples = 0, samples = 0;
  std::optional<TimedMachine> machine;
  /// All in fp32, all in int8 but what is kept, and what was chosen.
  StudiedModel fp32, int8, chosen;
  std::vector<OutputDifference> outputs;
  /// In the order of the model.
  std::vector<StudiedLayer> layers;
  /// If there were samples: the order by error, and what is left without the
  /// worst.
  std::optional<Sensitivity> sensitivity;
  std::vector<std::string> keepArguments;
  /// What was seen of the tensors that layers read, by name.
  std::map<std::string, quantize::Histogram> histograms;
  std::optional<StudiedSearch> search;
};

/// Compiles a model in fp32 and in int8, measures both layer by layer, and what
/// each layer in int8 does to the outputs; chooses precisions if asked to.
class PrecisionStudy {
public:
  PrecisionStudy(const StudyOptions &options, const OptionParser &parser)
      : options(options), parser(parser), progress(parser),
        fp32(parser, progress), int8(parser, progress),
        probe(parser, progress) {}

  /// 0, or the code to end with once what is wrong was printed.
  int run();

  const Study &result() const { return study; }
  /// What compiling with the precisions that were chosen takes; a file of its
  /// own among it lives as long as this.
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
  /// Nodes that are not int8.
  std::vector<std::string> keepRules() const;

  const StudyOptions &options;
  const OptionParser &parser;
  const Progress progress;
  ScratchFolder scratch;
  std::string calibrationPath;
  quantize::Calibration calibration;
  ScratchModel fp32, int8;
  /// With some layers in int8, if that was compiled.
  std::optional<ScratchModel> mixed;
  /// The artifact of the last choice: `int8` or `mixed`.
  ScratchModel *tried = nullptr;
  /// With bf16 in it, if it was tried.
  std::optional<ScratchModel> half;
  Probe probe;
  /// Of the samples that were calibrated on.
  SampleSurvey survey;
  std::vector<Array> firstSample;
  std::unique_ptr<Evaluation> evaluation;
  /// Units by number: those that are worth int8, the ones to widen first in
  /// front.
  std::vector<size_t> order;
  Study study;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_PRECISIONSTUDY_H
