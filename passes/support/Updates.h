//===- Updates.h - how updates of a scatter combine -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_UPDATES_H
#define INGOT_PASSES_SUPPORT_UPDATES_H

#include "dialects/nn/NNDialect.h"

#include "mlir/IR/Builders.h"

namespace ingot::support {

/// How an update of a scatter changes an element.
struct UpdateRule {
  nn::ScatterReduction reduction;
  bool isUnsigned;

  /// Creates the element behind an update of the element `old`.
  mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, mlir::Value old,
                      mlir::Value update) const;
};

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_UPDATES_H
