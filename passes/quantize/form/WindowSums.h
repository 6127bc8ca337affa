//===- WindowSums.h - sums of what a product's weights meet -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of unsigned bytes less a zero point have nine bits. A number that is
// taken off all weights of an output, so that the rest are signed bytes, counts
// once for each sum of all data that these weights meet: the same for all
// outputs.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_WINDOWSUMS_H
#define INGOT_PASSES_QUANTIZE_FORM_WINDOWSUMS_H

#include "dialects/nn/NNDialect.h"
#include "passes/quantize/form/ProductOperands.h"

#include "mlir/IR/Builders.h"

namespace ingot::quantize {

/// Whether f32 holds all sums of as many bytes as one output has weights, less
/// `zeroPoint`.
bool areExactAsFloats(const Weights &weights, int64_t zeroPoint);

/// The sums of the rows of `x`, of `count` bytes less `zeroPoint`, as f32; the
/// last dimension is kept.
mlir::Value sumRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                    int64_t count, int64_t zeroPoint);

/// The sums of the windows of a convolution without groups in `x`, of bytes
/// less `zeroPoint`, as f32, of one channel. The padding adds nothing.
mlir::Value sumWindows(mlir::OpBuilder &builder, nn::ConvOp conv, mlir::Value x,
                       int64_t zeroPoint);

/// The same of a transposed convolution without groups.
mlir::Value sumWindows(mlir::OpBuilder &builder, nn::ConvTransposeOp conv,
                       mlir::Value x, int64_t zeroPoint);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_FORM_WINDOWSUMS_H
