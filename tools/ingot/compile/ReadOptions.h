//===- ReadOptions.h - from flags to compiler options ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_READOPTIONS_H
#define INGOT_TOOLS_INGOT_COMPILE_READOPTIONS_H

#include "tools/ingot/Options.h"
#include "tools/ingot/compile/PrecisionOptions.h"

namespace ingot::tools {

/// Fills `options` from the flags of the command line. Its input must be set
/// already. Prints an error if the flags are wrong. Returns 0 or an exit code.
int readOptions(const cli::CompileFlags &flags, const OptionParser &parser,
                CompileOptions &options, PrecisionRequest &request);

/// Writes the file of --save-options, if requested. Returns 0 or an exit code.
int saveOptions(const cli::CompileFlags &flags, const OptionParser &parser,
                const CompileOptions &options);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_READOPTIONS_H
