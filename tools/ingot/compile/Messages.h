//===- Messages.h - what a compilation says ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H
#define INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace ingot {

/// Prints `diagnostic` on standard error as one line: severity, file, ONNX
/// node, text. `model` is the model's file, `command` that of ingot.
void printDiagnostic(mlir::Diagnostic &diagnostic, llvm::StringRef model,
                     llvm::StringRef command = "compile");

/// From now on prints the remarks of passes in the same way: which backends do
/// not compute a node, and why; which channels vanish, and which do not.
void printRemarks(mlir::MLIRContext &context, const std::string &model);

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H
