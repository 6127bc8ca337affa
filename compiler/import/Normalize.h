//===- Normalize.h - one form for what ONNX writes in several ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_NORMALIZE_H
#define INGOT_COMPILER_IMPORT_NORMALIZE_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// The default domain is "" everywhere, never "ai.onnx".
void normalizeDomains(pb::ModelProto &model);

/// Drops counts of heads that are 0, which stand for counts that are not given.
void dropAbsentHeads(pb::ModelProto &model);

/// Brings a checked model to one form, which also is what ONNX's version
/// converter keeps whole: sparse tensors are dense, initializers are no inputs,
/// function calls carry the default values of absent attributes, types of
/// intermediate values, which may be wrong, are gone, tensors are uniform.
llvm::Error normalizeModel(Model &model, const ImportOptions &options);

/// Every tensor of numbers has its data raw, or set aside; numbers that are
/// attributes of a Constant are one. Checks their sizes.
llvm::Error makeTensorsUniform(Model &model);

/// Forgets types of intermediate values and shapes of outputs.
void dropInferredTypes(pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_NORMALIZE_H
