//===- RunChecks.h - what a run must find true ------------------*- C++ -*-===//
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
/// for `values`, which are of type index. Not for kernels, which run on other
/// threads: the check stands in the function that is handed the run's call.
void require(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::Value condition, const llvm::Twine &message,
             mlir::ValueRange values = {});

/// Whether a relation holds of two sizes that only a run knows.
mlir::Value relates(mlir::OpBuilder &builder, mlir::Location loc,
                    nn::SizeRelation relation, mlir::Value a, mlir::Value b);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_RUNCHECKS_H
