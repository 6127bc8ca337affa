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

/// Values of the options that describe the inputs of a run.
struct InputSpecs {
  /// `[NAME=]FILE`, `[NAME=]random[:SEED]` or `[NAME=]zeros`.
  std::vector<std::string> inputs;
  /// `NAME=AxB...`
  std::vector<std::string> shapes;
  /// `NAME=N`
  std::vector<std::string> dims;
  /// How pictures become inputs.
  Preprocess preprocess;
  /// Whether inputs that are not given are random; else they are an error.
  bool isRandomByDefault = false;
};

/// Adds --shape and --dim for a compiled model.
void addShapeOptions(OptionParser &parser, InputSpecs &specs);

/// Adds --input, --shape, --dim and --preprocess.
void addInputOptions(OptionParser &parser, InputSpecs &specs);

/// Adds --preprocess.
void addPreprocessOption(OptionParser &parser, Preprocess &preprocess);

/// Returns how pictures become inputs of `model`: as `given`, or else as its
/// calibration records. A record that cannot be read counts as none.
Preprocess preprocessOf(const ingot_model *model, const Preprocess &given);

/// Returns a warning if `given` differs from what the model's calibration
/// records, or "".
std::string preprocessWarning(const ingot_model *model,
                              const Preprocess &given);

/// Returns the names that may be those of files in `--input`.
std::vector<std::string> filesRead(const InputSpecs &specs);

/// Makes an array for each input of `model`, in its order. Returns what is
/// wrong, or "".
std::string makeInputs(const ingot_model *model, const InputSpecs &specs,
                       std::vector<Array> &arrays);

/// Finds the shape of each input of `model`: from the options, else what the
/// model fixes or was compiled for. Returns what is wrong, or "".
std::string makeShapes(const ingot_model *model, const InputSpecs &specs,
                       std::vector<std::vector<int64_t>> &shapes);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_INPUTS_INPUTS_H
