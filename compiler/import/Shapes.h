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

/// Applies ImportOptions::shapes and dims to the inputs of a model whose
/// initializers are no inputs any more. A named dimension is the same wherever
/// its name stands.
llvm::Error applyShapes(pb::ModelProto &model, const ImportOptions &options);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SHAPES_H
