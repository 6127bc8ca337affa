//===- WindowSums.h - sums of the data under the weights --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums the data that a product multiplies by the weights of one output. ui8
// weights minus a zero point need nine bits. So an offset is subtracted from
// all weights of an output to make them signed bytes. The product with that
// offset is the offset times the sum of the data. This sum is equal for all
// outputs, and is computed once.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_WINDOWSUMS_H
#define INGOT_PASSES_QUANTIZE_FORM_WINDOWSUMS_H

#include "dialects/nn/NNDialect.h"
#include "passes/quantize/form/ProductOperands.h"

#include "mlir/IR/Builders.h"

namespace ingot::quantize {

/// Returns true if f32 represents exactly every sum of the ui8 data of one
/// output, minus `zeroPoint`.
bool areExactAsFloats(const Weights &weights, int64_t zeroPoint);

/// Returns the sums of the rows of `x` as f32, after subtracting `zeroPoint`
/// from each element. Each row has `count` bytes. The result keeps the last
/// dimension with size 1.
mlir::Value sumRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                    int64_t count, int64_t zeroPoint);

/// Returns the sums of the windows that a convolution without groups reads in
/// `x`, as f32 with one channel. Subtracts `zeroPoint` from each element. The
/// padding adds nothing.
mlir::Value sumWindows(mlir::OpBuilder &builder, nn::ConvOp conv, mlir::Value x,
                       int64_t zeroPoint);

/// Returns the sums of the windows of a transposed convolution without groups,
/// like the function above.
mlir::Value sumWindows(mlir::OpBuilder &builder, nn::ConvTransposeOp conv,
                       mlir::Value x, int64_t zeroPoint);

/// Converts bytes to floats and subtracts their zero point.
mlir::Value centered(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value bytes, mlir::Type element, int64_t zeroPoint);

/// Adds the remainders of `weights`, multiplied by the data less their zero
/// point, to f32 `sums` whose outputs lie along dimension `dim`. `data` are the
/// bytes at each place of remainders.
mlir::Value addRemainders(mlir::OpBuilder &builder, mlir::Value sums,
                          int64_t dim, const Weights &weights,
                          llvm::ArrayRef<mlir::Value> data, int64_t zeroPoint);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_FORM_WINDOWSUMS_H
