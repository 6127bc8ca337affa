//===- Inputs.h - inputs of a run, as options give them ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_INPUTS_INPUTS_H
#define INGOT_TOOLS_INGOT_INPUTS_INPUTS_H

#include "tools/ingot/Npy.h"
#include "tools/ingot/inputs/Pictures.h"

#include <string>
#include <vector>

namespace ingot::tools {

class OptionParser;

/// The values of the options that describe the inputs of a run.
struct InputSpecs {
  /// Values of --input: `[NAME=]FILE`, `[NAME=]random[:SEED]` or
  /// `[NAME=]zeros`.
  std::vector<std::string> inputs;
  /// Values of --shape: `NAME=AxB...`
  std::vector<std::string> shapes;
  /// Values of --dim: `NAME=N`
  std::vector<std::string> dims;
  /// How images become inputs.
  Preprocess preprocess;
  /// True if inputs without a value are random; otherwise they are an error.
  bool isRandomByDefault = false;
};

/// Adds --shape and --dim for a compiled model.
void addShapeOptions(OptionParser &parser, InputSpecs &specs);

/// Adds --input, --shape, --dim and --preprocess.
void addInputOptions(OptionParser &parser, InputSpecs &specs);

/// Adds --preprocess.
void addPreprocessOption(OptionParser &parser, Preprocess &preprocess);

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

#endif // INGOT_TOOLS_INGOT_INPUTS_INPUTS_H
