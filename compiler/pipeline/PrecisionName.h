//===- PrecisionName.h - precisions as users name them ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_PIPELINE_PRECISIONNAME_H
#define INGOT_COMPILER_PIPELINE_PRECISIONNAME_H

#include "compiler/pipeline/Pipeline.h"

namespace ingot {

/// Sets the options that `--precision=NAME` stands for. Returns false for an
/// unknown name. `int8` and `auto` change nothing, since a calibration says
/// what is quantized.
bool setPrecision(llvm::StringRef name, PipelineOptions &options);

/// Returns the name of the precision of `options`. bf16 combined with int8 is
/// called bf16.
std::string precisionName(const PipelineOptions &options);

/// Returns the precision that a keep rule can name besides fp32: bf16 or fp16,
/// else int8.
llvm::StringRef narrowName(const PipelineOptions &options);

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_PRECISIONNAME_H
