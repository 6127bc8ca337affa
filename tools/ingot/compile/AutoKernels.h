//===- AutoKernels.h - kernels chosen by measurement ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--kernels=auto` compiles a model with native kernels and with oneDNN, measures
// both layer by layer, and takes the faster one for each. What it found goes into
// a JSON file; compiling with that file gives the same artifact again.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_AUTOKERNELS_H
#define INGOT_TOOLS_INGOT_COMPILE_AUTOKERNELS_H

#include "compiler/driver/Compiler.h"

namespace ingot {

/// Measures what `options` compiles on this machine, with all CPUs, writes what
/// it found to `file` and sets the pipeline's kernels. Errors go to the context's
/// diagnostic handler.
mlir::LogicalResult measureKernels(CompileOptions &options,
                                   llvm::StringRef file,
                                   mlir::MLIRContext &context);

/// Sets the pipeline's kernels as `file` has them. Empty string, or what is wrong.
std::string readKernels(llvm::StringRef file, PipelineOptions &pipeline);

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMPILE_AUTOKERNELS_H
