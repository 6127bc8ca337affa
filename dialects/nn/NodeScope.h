//===- NodeScope.h - module of a node in PyTorch ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the scopes of nodes. PyTorch's exporter numbers nodes
// ("node_Conv_731") and records the module of each node ("stem.conv_kxk"). In
// the location of an operation, the module is the child of the node's name:
// loc("node_Conv_731"("stem.conv_kxk")).
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NODESCOPE_H
#define INGOT_DIALECTS_NN_NODESCOPE_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace ingot {

/// Returns the location of a node. Omits the scope if it is empty.
mlir::Location nodeLocation(mlir::StringAttr name, llvm::StringRef scope);

/// Calls `visit` with each ONNX node of a location that has a scope.
void forEachScope(
    mlir::Location location,
    llvm::function_ref<void(mlir::StringAttr name, mlir::StringAttr scope)>
        visit);

/// Returns the scopes of the nodes of a location, joined by " + ".
std::string nodeScopeOf(mlir::Location location);

} // namespace ingot

#endif // INGOT_DIALECTS_NN_NODESCOPE_H
