//===- InputOptions.h - options that describe inputs ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_INPUTOPTIONS_H
#define INGOT_TOOLS_INGOT_INPUTOPTIONS_H

#include "client/inputs/Inputs.h"

namespace ingot::tools {

class OptionParser;

/// Adds --shape and --dim for a compiled model. The command checks ranges of
/// sizes and open sizes if it takes them; otherwise they are wrong.
void addShapeOptions(OptionParser &parser, InputSpecs &specs,
                     bool takesRanges = false);

/// Adds --input, --shape, --dim and --preprocess.
void addInputOptions(OptionParser &parser, InputSpecs &specs,
                     bool takesRanges = false);

/// Adds --device, and checks the form of its value.
void addDeviceOption(OptionParser &parser, cli::DeviceFlags &flags);

/// Adds --preprocess. Its value goes to `flags` and `preprocess`.
void addPreprocessOption(OptionParser &parser, cli::PreprocessFlags &flags,
                         Preprocess &preprocess);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_INPUTOPTIONS_H
