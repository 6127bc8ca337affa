//===- PackAtRunTime.h - weights that only a run knows ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts of PackWeights.h as ops that a run computes.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_PACKATRUNTIME_H
#define INGOT_PASSES_CPU_LOWER_PACKATRUNTIME_H

#include "mlir/IR/Builders.h"

namespace ingot::cpu {

/// Before the outermost loop around `op` that does not compute `value`: what
/// every step of a recurrence multiplies by is packed once.
void setInsertionPointOutside(mlir::OpBuilder &builder, mlir::Operation *op,
                              mlir::Value value);

/// The right factor of a product as packMatMulWeights has it.
mlir::Value packFactor(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value b, bool transposed);

/// The weights of a convolution as packConvWeights has them.
mlir::Value packFilter(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value w, int64_t groups);

/// Those of groups of few channels as packGroupedWeights, those of single
/// channels as packDepthwiseWeights has them.
mlir::Value packTaps(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value w);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_PACKATRUNTIME_H
