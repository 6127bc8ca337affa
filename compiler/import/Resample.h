//===- Resample.h - Upsample and Resize of old opsets -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_RESAMPLE_H
#define INGOT_COMPILER_IMPORT_RESAMPLE_H

#include "compiler/import/Model.h"

#include "llvm/ADT/StringMap.h"

namespace ingot::importer {

/// Maps the output of an old resampling operator to its rounding in nearest
/// mode. ONNX's version converter turns Upsample, and Resize before opset 11,
/// into a Resize with the defaults of opset 11. These defaults sample other
/// positions. So the original rounding is recorded before the conversion and
/// restored after it.
using OldResamples = llvm::StringMap<std::string>;

OldResamples findOldResamples(pb::ModelProto &model);
void restoreOldResamples(pb::ModelProto &model, const OldResamples &old);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_RESAMPLE_H
