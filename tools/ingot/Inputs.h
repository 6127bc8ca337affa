//===- Inputs.h - what --input and --shape ask for ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_INPUTS_H
#define INGOT_TOOLS_INGOT_INPUTS_H

#include "tools/ingot/Npy.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// What a user said about inputs, and how messages call the options.
struct InputSpecs {
  /// `[name=]file.npy`, `[name=]random[:seed]`.
  std::vector<std::string> inputs;
  /// `name=AxB...` or `name:AxB...`.
  std::vector<std::string> shapes;
  std::string inputOption = "--input", shapeOption = "--shape";
  /// As trtexec has it: what is not given is random, `name:file` is allowed,
  /// and a file that is not .npy holds the elements alone.
  bool likeTrtexec = false;
};

/// Makes an array for each input of `model`, in its order. Empty string, or
/// what is wrong.
std::string makeInputs(const ingot_model *model, const InputSpecs &specs,
                       std::vector<Array> &arrays);

/// The shape of each input of `model`: what the specs say, else what the model
/// fixes or was compiled for. Empty string, or what is wrong.
std::string makeShapes(const ingot_model *model, const InputSpecs &specs,
                       std::vector<std::vector<int64_t>> &shapes);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_INPUTS_H
