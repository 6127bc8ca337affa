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

/// Sets what `--precision=NAME` stands for. False: there is no such precision.
/// `int8` and `auto` change nothing: a calibration says what they quantize.
bool setPrecision(llvm::StringRef name, PipelineOptions &options);

/// The name of what `options` stand for. What is multiplied as bf16 beside
/// int8 has the name of the former.
std::string precisionName(const PipelineOptions &options);

/// What a rule names that takes nodes from fp32: bf16 or fp16, else int8.
llvm::StringRef narrowName(const PipelineOptions &options);

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_PRECISIONNAME_H
