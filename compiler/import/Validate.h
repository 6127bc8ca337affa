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

/// Checks the size of every tensor against its data, which ONNX's checker
/// cannot read. Also checks versions, sizes of value types and attributes,
/// which ONNX's checker ignores.
llvm::Error validateModel(Model &model, const ImportOptions &options);

/// Checks element types, ranks and sizes of the graphs' inputs and outputs.
/// Called again after `--shape` and `--dim` have changed them.
llvm::Error validateTypes(Model &model);

/// Checks that the data of each tensor has the size that its type and shape
/// require. The data may be in the model or set aside. Called again after each
/// step of ONNX's library, because that library copies tensors.
llvm::Error validateTensors(Model &model);

/// Checks that every value is defined exactly once, and that no name holds a
/// NUL character. The nodes must be sorted.
llvm::Error validateNames(pb::ModelProto &model);

/// Checks the attributes that shape inference and version conversion divide by.
/// Called again after functions are expanded, because attributes in their
/// bodies have values only then.
llvm::Error validateNodes(pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_VALIDATE_H
