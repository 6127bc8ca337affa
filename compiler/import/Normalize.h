//===- Normalize.h - one form for equivalent models -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_NORMALIZE_H
#define INGOT_COMPILER_IMPORT_NORMALIZE_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Replaces the domain "ai.onnx" by "" everywhere.
void normalizeDomains(pb::ModelProto &model);

/// Removes head counts of 0. A count of 0 means that the attribute is absent.
void dropAbsentHeads(pb::ModelProto &model);

/// Brings a checked model to a form that ONNX's version converter preserves.
/// Sparse tensors become dense, and initializers are removed from the inputs.
/// Calls of functions get default values for absent attributes. Types of
/// intermediate values are dropped, because they may be wrong. Tensors become
/// uniform.
llvm::Error normalizeModel(Model &model, const ImportOptions &options);

/// Converts the data of every numeric tensor to raw data, or sets it aside, and
/// checks its size. Numeric attributes of a Constant become a tensor.
llvm::Error makeTensorsUniform(Model &model);

/// Drops the types of intermediate values and the shapes of outputs.
void dropInferredTypes(pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_NORMALIZE_H
