//===- Validate.h - checks that ONNX's checker lacks ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_VALIDATE_H
#define INGOT_COMPILER_IMPORT_VALIDATE_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Checks the size of every tensor against its data, which ONNX's checker no
/// longer sees, and the rest that it does not look at: versions, sizes of value
/// types, attributes.
llvm::Error validateModel(Model &model, const ImportOptions &options);

/// Checks element types, ranks and sizes of what graphs take and give. Called
/// again once `--shape` and `--dim` are applied.
llvm::Error validateTypes(Model &model);

/// Checks of each tensor that its data has the size that its type and shape
/// need, whether it is in the model or set aside. Called again after each step
/// of ONNX's library, which copies tensors.
llvm::Error validateTensors(Model &model);

/// Checks that every value is defined, and only once, and that no name holds a
/// NUL character. The nodes must be sorted.
llvm::Error validateNames(pb::ModelProto &model);

/// Checks the attributes that shape inference and version conversion divide by.
/// Called again once functions are expanded, since their bodies only then have
/// values for all attributes.
llvm::Error validateNodes(pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_VALIDATE_H
