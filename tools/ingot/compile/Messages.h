//===- Messages.h - what a compilation says ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H
#define INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H

#include "compiler/driver/DecisionTrace.h"

#include "mlir/IR/Diagnostics.h"

namespace ingot {

/// Prints `diagnostic` on standard error as one line: severity, file, ONNX
/// node, text. `model` is the model's file, and `command` is ingot's
/// subcommand.
void printDiagnostic(mlir::Diagnostic &diagnostic, llvm::StringRef model,
                     llvm::StringRef command = "compile");

/// Prints a remark of a pass in this form, too. Remarks tell which channels are
/// removed or kept, and which weights are zero.
void printRemark(const mlir::remark::detail::Remark &remark,
                 llvm::StringRef model);

/// Prints the decisions that a user would not expect: which backends decline a
/// node, and why.
void printDecisions(const DecisionTrace &trace, llvm::StringRef model);

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H
