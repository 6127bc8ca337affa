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

/// Sets the options for `--precision=NAME`. Returns false for an unknown name.
/// `int8` and `auto` set nothing, because the calibration defines what is
/// quantized.
bool setPrecision(llvm::StringRef name, PipelineOptions &options);

/// Returns the name of the precision of `options`. Returns bf16 if bf16 and
/// int8 are combined.
std::string precisionName(const PipelineOptions &options);

/// Returns `options` with all products in fp32, as if they named no precision.
PipelineOptions withoutPrecision(PipelineOptions options);

/// Returns the precision that keep rules may use besides fp32: bf16 or fp16 if
/// selected, else int8.
llvm::StringRef narrowName(const PipelineOptions &options);

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_PRECISIONNAME_H
