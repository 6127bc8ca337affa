//===- Messages.h - what a compilation says ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H
#define INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H

#include "base/Progress.h"
#include "compiler/driver/DecisionTrace.h"
#include "tools/ingot/Console.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

/// Returns a diagnostic as a message. Its notes become the hint. `operators`
/// has the operator of each node, by name; it may be null.
Message toMessage(mlir::Diagnostic &diagnostic, llvm::StringRef model,
                  const llvm::StringMap<std::string> *operators = nullptr);

/// Returns a remark of a pass as a message. Remarks tell which channels are
/// removed or kept, and which weights are zero.
Message toMessage(const mlir::remark::detail::Remark &remark,
                  llvm::StringRef model,
                  const llvm::StringMap<std::string> *operators);

/// Returns the decisions that a user would not expect: which backends decline a
/// node, and why.
std::vector<Message> remarksOf(const DecisionTrace &trace,
                               llvm::StringRef model,
                               const llvm::StringMap<std::string> &operators);

/// Prints a message. Text has the name of the file without its folder, and is
/// one line of plain characters.
void print(tools::Console &console, Message message);

/// Prints a diagnostic of the subcommand `command`.
void printDiagnostic(mlir::Diagnostic &diagnostic, llvm::StringRef model,
                     llvm::StringRef command = "compile");

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMPILE_MESSAGES_H
