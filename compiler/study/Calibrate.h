//===- Calibrate.h - calibrates and repairs a model -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_CALIBRATE_H
#define INGOT_COMPILER_STUDY_CALIBRATE_H

#include "compiler/study/repair/Repair.h"

#include <limits>

namespace ingot::study {

struct CalibrateOptions {
  std::string model;
  InputSizes sizes;
  SampleFiles data;
  quantize::MethodChoice method;
  /// Rules that select another method for some tensors.
  std::vector<quantize::Rule> rules;
  RepairChoice repairs;
  /// The largest error of an output that the automatic choice of repairs may
  /// leave.
  double maxError = std::numeric_limits<double>::infinity();
  /// The number of samples for the method `best` and for repairs; 0 for the
  /// default.
  unsigned numSamples = 0;
  unsigned threads = 0;
};

/// The ranges and the repairs of a model.
struct Calibration {
  quantize::Calibration file;
  /// The repairs that were tried, in order.
  std::vector<RepairTrial> trials;
  /// The measurements. Set only if repairs are chosen automatically.
  std::optional<RepairOutcome> outcome;
};

/// Runs a model on samples and chooses the int8 ranges of its tensors. Then
/// tries repairs.
llvm::Expected<Calibration> calibrate(CalibrateOptions options,
                                      const Progress &progress);

/// Writes a calibration file.
llvm::Error writeCalibration(const Calibration &calibration,
                             const std::string &path);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_CALIBRATE_H
