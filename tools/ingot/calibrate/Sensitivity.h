//===- Sensitivity.h - which layers int8 hurts ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_SENSITIVITY_H
#define INGOT_TOOLS_INGOT_CALIBRATE_SENSITIVITY_H

#include "tools/ingot/bench/Json.h"
#include "tools/ingot/calibrate/Probe.h"

namespace ingot::tools {

/// What a layer does to the outputs.
struct LayerError {
  /// Of the probe.
  size_t unit = 0;
  /// Of all outputs, as Probe::measure has it, when it alone is in int8.
  double alone = 0;
};

struct Sensitivity {
  /// When all are in int8.
  double all = 0;
  /// The worst first.
  std::vector<LayerError> layers;
  /// What is left when the first so many layers stay in fp32.
  struct Kept {
    size_t count;
    double error;
  };
  std::vector<Kept> kept;
  uint64_t samples = 0;
};

/// Runs the probe's samples with one unit in int8. Returns what is wrong, or
/// "".
std::string measureAlone(Probe &probe, size_t unit, double &error);

/// Runs the probe's samples once for each layer, and a few times more. Returns
/// what is wrong, or "".
std::string measureSensitivity(Probe &probe, const Progress &progress,
                               Sensitivity &result);

/// What is behind `ingot compile` to keep the first `count` layers in fp32, as
/// a shell reads it: `--keep 'conv1=fp32' --keep 'fc=fp32'`.
std::string keepArguments(const Probe &probe, const Sensitivity &sensitivity,
                          size_t count);

void printSensitivity(const Probe &probe, const Sensitivity &sensitivity);
/// As the member "sensitivity" of an object.
void writeSensitivity(const Probe &probe, const Sensitivity &sensitivity,
                      JsonWriter &json);

/// The rule of --keep that is of one node, whatever is in its name.
std::string keepRule(const std::string &node);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_SENSITIVITY_H
