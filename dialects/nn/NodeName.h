//===- NodeName.h - the ONNX nodes an op comes from -------------*- C++ -*-===//
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

/// Calls `visit` with the name of each ONNX node that a location holds.
void forEachNode(mlir::Location location,
                 llvm::function_ref<void(mlir::StringAttr)> visit);

/// The ONNX nodes a location names, joined by " + "; "" if it names none.
std::string nodeNameOf(mlir::Location location);

/// A name or a path for a message: control characters, what is no UTF-8 and
/// backslashes are escaped, and what is longer than `max` characters is cut in
/// its middle. Names come from the model and may be anything.
std::string printable(llvm::StringRef text, size_t max = 120);

/// The same for a whole message, in which backslashes stay.
std::string oneLine(llvm::StringRef message, size_t max = 1200);

} // namespace ingot

#endif // INGOT_DIALECTS_NN_NODENAME_H
