//===- Inputs.h - inputs of a run, as options give them ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_INPUTS_H
#define INGOT_CLIENT_INPUTS_INPUTS_H

#include "base/OptionTable.h"
#include "client/Npy.h"
#include "client/inputs/Pictures.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// The values of the options that describe the inputs of a run.
struct InputSpecs : cli::InputFlags, cli::ShapeFlags {
  /// The preparation of images as text, and parsed.
  cli::PreprocessFlags pictures;
  Preprocess preprocess;
  /// True if inputs without a value are random; otherwise they are an error.
  bool isRandomByDefault = false;
};

/// Returns how images become inputs of `model`: as `given`, or else as its
/// calibration records. A record that cannot be read is ignored.
Preprocess preprocessOf(const ingot_model *model, const Preprocess &given);

/// Returns a warning if `given` differs from the record of the model's
/// calibration, or "".
std::string preprocessWarning(const ingot_model *model,
                              const Preprocess &given);

/// Returns all names in `--input` that may be names of files.
std::vector<std::string> filesRead(const InputSpecs &specs);

/// Makes an array for each input of `model`, in its order. Returns an error
/// message, or "".
std::string makeInputs(const ingot_model *model, const InputSpecs &specs,
                       std::vector<Array> &arrays);

/// Finds the shape of each input of `model`. Sizes come from the options, else
/// from the model or from its profiles. Returns an error message, or "".
std::string makeShapes(const ingot_model *model, const InputSpecs &specs,
                       std::vector<std::vector<int64_t>> &shapes);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_INPUTS_H
