//===- Repair.h - repairs that are measured ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_REPAIR_H
#define INGOT_TOOLS_INGOT_CALIBRATE_REPAIR_H

#include "tools/ingot/calibrate/Calibrator.h"

namespace ingot::tools {

enum class RepairKind { equalize, smooth, round, bias };

/// Reads `equalize,smooth,round,bias`; returns what is wrong, to be read behind
/// the option's name, or "".
std::string parseRepairs(const std::string &text,
                         std::vector<RepairKind> &kinds);

/// Tries repairs of a model, one after the other, and keeps those with which
/// the outputs' error is less.
class Repairer {
public:
  struct Trial {
    const char *name;
    double before = 0, after = 0;
    bool isKept() const { return after < before; }
  };

  Repairer(const Calibrator::Options &options, const OptionParser &parser,
           const Progress &progress)
      : options(options), parser(parser), progress(progress) {}

  /// Repairs what was calibrated. 0, or the code to end with once what is wrong
  /// was printed.
  int run(const std::vector<RepairKind> &kinds,
          quantize::Calibration &calibration, std::vector<Trial> &trials);

private:
  int repair(RepairKind kind, quantize::Calibration &calibration);
  /// Finds the ranges of what is repaired.
  int recalibrate(quantize::Calibration &calibration);
  int findMaxima(quantize::Calibration &calibration);
  int roundWeights(quantize::Calibration &calibration);
  int correctBiases(quantize::Calibration &calibration);
  int measure(const quantize::Calibration &calibration, double &error);
  int prepare(Probe &probe, const quantize::Calibration &calibration,
              bool showsErrors);

  const Calibrator::Options &options;
  const OptionParser &parser;
  const Progress &progress;
  std::string writeScratch(const quantize::Calibration &calibration);
  /// Where the last one was written.
  std::string path() const { return scratch.path() + "/repaired.json"; }

  ScratchFolder scratch;
  /// Weights are rounded by what they are multiplied by.
  bool rounds = false;
};

/// Sets the pipeline to what a calibration has repaired, for models that are
/// held against one that is compiled with it. `path` is its file.
void setRepairs(const quantize::Calibration &calibration,
                const std::string &path, PipelineOptions &pipeline);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_REPAIR_H
