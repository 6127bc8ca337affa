//===- LayerNotes.h - shapes and scopes of layers ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_LAYERNOTES_H
#define INGOT_PASSES_MEMORY_LAYERNOTES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace ingot {

/// Texts about layers that profiles show. The module keeps them in the model's
/// metadata. `ingot.layer_shapes` has a line for each layer, "1x8x8x3 ->
/// 1x8x8x16". `ingot.scopes` has a line for each node, "NODE<tab>SCOPE".
class LayerNotes {
public:
  /// Adds the next layer. `largest` is the op that does the most work.
  void add(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *largest);
  /// Writes the metadata of the module.
  void write(mlir::ModuleOp module) const;

private:
  std::string shapes;
  llvm::MapVector<mlir::StringAttr, mlir::StringAttr> scopes;
};

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_LAYERNOTES_H
