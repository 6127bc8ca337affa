//===- NodeName.h - ONNX nodes of an op -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NODENAME_H
#define INGOT_DIALECTS_NN_NODENAME_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Calls `visit` with the name of each ONNX node in a location.
void forEachNode(mlir::Location location,
                 llvm::function_ref<void(mlir::StringAttr)> visit);

/// Returns the names of the ONNX nodes in a location, joined by " + "; "" if
/// there are none.
std::string nodeNameOf(mlir::Location location);

/// Returns a name or path in a form for messages. Escapes control characters,
/// invalid UTF-8 and backslashes, because names from a model may contain any
/// bytes. If there are more than `max` characters, shortens the middle.
std::string printable(llvm::StringRef text, size_t max = 120);

/// Returns a whole message in this form, but does not escape backslashes.
std::string oneLine(llvm::StringRef message, size_t max = 1200);

} // namespace ingot

#endif // INGOT_DIALECTS_NN_NODENAME_H
