//===- Shapes.h - shapes that the user fixes --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_SHAPES_H
#define INGOT_COMPILER_IMPORT_SHAPES_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Applies ImportOptions::lengths and absent: inputs that are sequences or
/// optionals become tensors, and nodes that make of them what they were.
llvm::Error applyLists(pb::ModelProto &model, const ImportOptions &options);

/// Applies ImportOptions::shapes and dims to the inputs of a model whose
/// initializers are no inputs any more. A named dimension is the same wherever
/// its name stands.
llvm::Error applyShapes(pb::ModelProto &model, const ImportOptions &options);

/// Applies ImportOptions::values: these inputs become initializers. A list of
/// numbers fixes an input's one open dimension, wherever its name stands.
llvm::Error applyValues(pb::ModelProto &model, const ImportOptions &options);

/// The model's inputs, for a message about one that is not there.
std::string listInputs(const pb::GraphProto &graph);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SHAPES_H
