//===- Sensitivity.h - which layers int8 hurts ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_SENSITIVITY_H
#define INGOT_COMPILER_STUDY_PRECISION_SENSITIVITY_H

#include "compiler/study/runs/Probe.h"

namespace ingot::study {

/// A layer, and the error that it causes.
struct LayerError {
  /// The unit of the probe, its nodes, and the tensor that it reads.
  size_t unit = 0;
  std::vector<std::string> nodes;
  std::string tensor;
  /// The error of all outputs if only this layer is in int8. See
  /// Probe::measure.
  double alone = 0;
};

struct Sensitivity {
  /// The error if all layers are in int8.
  double all = 0;
  /// The layers, the worst first.
  std::vector<LayerError> layers;
  /// The remaining error if the first `count` layers stay in fp32.
  struct Kept {
    size_t count;
    double error;
  };
  std::vector<Kept> kept;
  uint64_t samples = 0;
};

/// Runs the probe's samples with one unit in int8. Returns the error of the
/// outputs.
llvm::Expected<double> measureAlone(Probe &probe, size_t unit,
                                    const Progress &progress);

/// Runs the probe's samples: once for each layer, and a few more times.
llvm::Expected<Sensitivity> measureSensitivity(Probe &probe,
                                               const Progress &progress);

/// Returns the arguments of `ingot compile` that keep the first `count` layers
/// in fp32. They are quoted for a shell, for example `--keep 'conv1=fp32'
/// --keep 'fc=fp32'`.
std::string keepArguments(const Sensitivity &sensitivity, size_t count);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_SENSITIVITY_H
