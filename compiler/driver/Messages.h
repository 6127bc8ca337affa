//===- Messages.h - messages of a compilation -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_MESSAGES_H
#define INGOT_COMPILER_DRIVER_MESSAGES_H

#include "base/Progress.h"
#include "compiler/driver/DecisionTrace.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

/// Returns a diagnostic as a message. Its notes become the hint. An error of
/// the import names the file and the node in its text. `operators` has the
/// operator of each node, by name.
Message toMessage(mlir::Diagnostic &diagnostic, llvm::StringRef model,
                  const llvm::StringMap<std::string> &operators);

/// Converts a remark of a pass to a message. Remarks are about removed and kept
/// channels, and about weights that are zero.
Message toMessage(const mlir::remark::detail::Remark &remark,
                  llvm::StringRef model,
                  const llvm::StringMap<std::string> &operators);

/// Returns messages about decisions that a user would not expect: backends that
/// declined a node, and their reasons.
std::vector<Message> remarksOf(const DecisionTrace &trace,
                               llvm::StringRef model,
                               const llvm::StringMap<std::string> &operators);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_MESSAGES_H
