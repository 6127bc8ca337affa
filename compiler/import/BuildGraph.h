//===- BuildGraph.h - a prepared model to the onnx dialect ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_BUILDGRAPH_H
#define INGOT_COMPILER_IMPORT_BUILDGRAPH_H

#include "compiler/import/Model.h"

#include "llvm/ADT/StringSet.h"

namespace ingot::importer {

/// Builds the module of a model that has been checked, converted and inferred.
/// `dimNames` are the names of the inputs' dimensions. An output has these
/// names where inference finds them, else its names in the file. Names that
/// inference invents are dropped.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
buildModule(const Model &model, const llvm::StringSet<> &dimNames,
            llvm::StringRef fileName, mlir::MLIRContext &context);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_BUILDGRAPH_H
