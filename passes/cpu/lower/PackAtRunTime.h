//===- PackAtRunTime.h - weights that only a run knows ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that pack computed weights at run time into the layouts of PackWeights.h.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_PACKATRUNTIME_H
#define INGOT_PASSES_CPU_LOWER_PACKATRUNTIME_H

#include "mlir/IR/Builders.h"

namespace ingot::cpu {

/// Sets the insertion point before the outermost loop around `op` that does not
/// compute `value`. If `value` is a factor in every step of a recurrence, it is
/// thus packed only once.
void setInsertionPointOutside(mlir::OpBuilder &builder, mlir::Operation *op,
                              mlir::Value value);

/// Packs the right factor of a product into the layout of packMatMulWeights.
mlir::Value packFactor(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value b, bool transposed);

/// Packs the weights of a convolution into the layout of packConvWeights.
mlir::Value packFilter(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value w, int64_t groups);

/// Packs the weights of a grouped convolution with few channels a group. The
/// layout is that of packGroupedWeights, or of packDepthwiseWeights for single
/// channels.
mlir::Value packTaps(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value w);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_PACKATRUNTIME_H
