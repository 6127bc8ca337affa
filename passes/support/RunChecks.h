//===- RunChecks.h - run-time checks ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RUNCHECKS_H
#define INGOT_PASSES_SUPPORT_RUNCHECKS_H

#include "dialects/nn/SizeRules.h"

#include "mlir/IR/Builders.h"

namespace ingot {

/// Ends the run with INGOT_ABI_RUNTIME_CHECK unless `condition` holds. The
/// message begins with the ONNX nodes that `loc` names; {0} and {1} in it stand
/// for `values`, which are of type index. Kernels must not contain checks,
/// because they run on other threads.
void require(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::Value condition, const llvm::Twine &message,
             mlir::ValueRange values = {});

/// Creates the condition that a relation of two dynamic sizes holds.
mlir::Value relates(mlir::OpBuilder &builder, mlir::Location loc,
                    nn::SizeRelation relation, mlir::Value a, mlir::Value b);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_RUNCHECKS_H
