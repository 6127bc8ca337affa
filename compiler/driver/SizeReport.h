//===- SizeReport.h - bytes of a model and of its artifact ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_SIZEREPORT_H
#define INGOT_COMPILER_DRIVER_SIZEREPORT_H

#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// Sizes that tell a user what an artifact's bytes are for.
struct SizeReport {
  /// Bytes of the model's constants as they are imported.
  uint64_t modelWeights = 0;
  /// Bytes of the library and of its separate weights.
  uint64_t artifact = 0;
  /// Convolutions in fewer products, and the bytes that their transforms add.
  uint64_t numFewerProducts = 0, fewerProducts = 0;
};

/// Returns the bytes of all constants of an imported model; equal attributes
/// count once.
uint64_t countConstantBytes(mlir::ModuleOp module);

/// Sets what convolutions in fewer products add, once `collect-weights` has
/// placed their weights; those of several convolutions count once.
void countFewerProducts(mlir::ModuleOp module, SizeReport &report);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_SIZEREPORT_H
