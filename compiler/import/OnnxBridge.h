//===- OnnxBridge.h - calls into ONNX's library, which throws ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_ONNXBRIDGE_H
#define INGOT_COMPILER_IMPORT_ONNXBRIDGE_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Returns the newest opset that ONNX's library supports.
int64_t newestOpset();

/// Parses ONNX text.
llvm::Error parseText(llvm::StringRef text, pb::ModelProto &model);

/// Runs onnx::checker over a model whose large tensors are set aside.
llvm::Error checkModel(pb::ModelProto &model);

/// Expands all calls of the model's own functions.
llvm::Error inlineFunctions(pb::ModelProto &model,
                            const ImportOptions &options);

/// Converts the model to the newest opset. Keeps the model if ONNX's converter
/// fails or changes a tensor, because the legalizer also accepts older opsets.
/// Fails if the opset is too old for the legalizer.
llvm::Error convertVersion(Model &model);

/// Expands operators that have no lowering, if ONNX defines them as functions.
/// Types must be inferred.
llvm::Error expandOperators(Model &model, const ImportOptions &options);

/// Infers types and shapes as far as possible.
void inferShapes(pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_ONNXBRIDGE_H
