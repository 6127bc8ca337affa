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
  /// The preprocessing of images, as text and parsed.
  cli::PreprocessFlags pictures;
  Preprocess preprocess;
  /// True if inputs without a value get random values. Otherwise they cause an
  /// error.
  bool isRandomByDefault = false;
};

/// Returns the preprocessing of images for `model`: `given`, or else the record
/// of the model's calibration. Ignores a record that cannot be read.
Preprocess preprocessOf(const ingot_model *model, const Preprocess &given);

/// Returns a warning if `given` differs from the record of the model's
/// calibration, or "".
std::string preprocessWarning(const ingot_model *model,
                              const Preprocess &given);

/// Returns all names in `--input` that may be names of files.
std::vector<std::string> filesRead(const InputSpecs &specs);

/// Removes the sizes of named dimensions that are not open in the model. They
/// may be open in a model that it is compared with.
void eraseFixedDims(const ingot_model *model, InputSpecs &specs);

/// Makes an array for each input of `model`, in its order. Returns an error
/// message, or "".
std::string makeInputs(const ingot_model *model, const InputSpecs &specs,
                       std::vector<Array> &arrays);

/// Finds the shape of each input of `model`. The sizes come from the options,
/// or else from the model or its profiles. Returns an error message, or "".
std::string makeShapes(const ingot_model *model, const InputSpecs &specs,
                       std::vector<std::vector<int64_t>> &shapes);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_INPUTS_H
