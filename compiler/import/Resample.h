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

/// ONNX's version converter turns Upsample, and Resize before opset 11, into
/// Resize with the defaults of opset 11, which samples at other places. These
/// say what the old operators mean: from the name of an output to the rounding
/// of the nearest mode.
using OldResamples = llvm::StringMap<std::string>;

OldResamples findOldResamples(pb::ModelProto &model);
void restoreOldResamples(pb::ModelProto &model, const OldResamples &old);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_RESAMPLE_H
