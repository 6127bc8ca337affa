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

/// Sizes that explain an artifact's size to the user.
struct SizeReport {
  /// The bytes of the model's constants as imported.
  uint64_t modelWeights = 0;
  /// The bytes of the library and of its separate weights.
  uint64_t artifact = 0;
  /// The number of Winograd convolutions, and the additional bytes of their
  /// transformed weights.
  uint64_t numFewerProducts = 0, fewerProducts = 0;
};

/// Returns the bytes of all constants of an imported model. Equal attributes
/// count once.
uint64_t countConstantBytes(mlir::ModuleOp module);

/// Sets the additional bytes of Winograd convolutions. `collect-weights` must
/// have placed their weights. Weights that several convolutions share count
/// once.
void countFewerProducts(mlir::ModuleOp module, SizeReport &report);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_SIZEREPORT_H
