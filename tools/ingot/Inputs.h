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

/// Makes an array for each input of `model`, in its order. `inputSpecs` are
/// `[name=]file.npy`, `[name=]random[:seed]`; `shapeSpecs` are `name=AxB...`
/// or `name:AxB...`. Empty string, or what is wrong.
std::string makeInputs(const ingot_model *model,
                       const std::vector<std::string> &inputSpecs,
                       const std::vector<std::string> &shapeSpecs,
                       std::vector<Array> &arrays);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_INPUTS_H
