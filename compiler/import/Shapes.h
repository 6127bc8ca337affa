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

/// Applies ImportOptions::lengths and absent. Inputs that are sequences or
/// optionals become tensors, and nodes build the original value from them.
llvm::Error applyLists(pb::ModelProto &model, const ImportOptions &options);

/// Applies ImportOptions::shapes and dims to the inputs. Initializers must have
/// been removed from the inputs. A named dimension has one size in the whole
/// model.
llvm::Error applyShapes(pb::ModelProto &model, const ImportOptions &options);

/// Applies ImportOptions::values: the inputs become initializers. A list of
/// values also sets the only dynamic dimension of its input, and all other
/// dimensions of the same name.
llvm::Error applyValues(pb::ModelProto &model, const ImportOptions &options);

/// Returns a list of the model's inputs, for the message about an unknown
/// input.
std::string listInputs(const pb::GraphProto &graph);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SHAPES_H
