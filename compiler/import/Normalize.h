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

/// Drops head counts of 0, which mean that the count is not given.
void dropAbsentHeads(pb::ModelProto &model);

/// Brings a checked model to one form, which ONNX's version converter also
/// preserves. Sparse tensors become dense, and initializers are removed from
/// the inputs. Calls of functions get default values of absent attributes.
/// Types of intermediate values, which may be wrong, are dropped. Tensors
/// become uniform.
llvm::Error normalizeModel(Model &model, const ImportOptions &options);

/// Makes the data of every numeric tensor raw or set aside, and checks its
/// size. Numeric attributes of a Constant become a tensor.
llvm::Error makeTensorsUniform(Model &model);

/// Drops the types of intermediate values and the shapes of outputs.
void dropInferredTypes(pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_NORMALIZE_H
