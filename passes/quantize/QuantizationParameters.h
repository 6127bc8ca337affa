//===- QuantizationParameters.h - scales and zero points --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_QUANTIZATIONPARAMETERS_H
#define INGOT_PASSES_QUANTIZE_QUANTIZATIONPARAMETERS_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

#include <optional>
#include <vector>

namespace ingot::quantize {

using support::typeOf;

/// The constant scale and zero point of a tensor.
struct Scale {
  double scale;
  int64_t zeroPoint;

  bool operator==(const Scale &other) const {
    return scale == other.scale && zeroPoint == other.zeroPoint;
  }
};

/// Returns the scale and the zero point of an nn.quantize or nn.dequantize.
/// Returns nullopt if they are computed or vary along an axis.
std::optional<Scale> getScale(nn::QuantizeOp op);
std::optional<Scale> getScale(nn::DequantizeOp op);

/// Returns the nn.dequantize with one constant scale that computes `value`, or
/// null.
nn::DequantizeOp getDequantize(mlir::Value value);

/// Creates an nn.quantize or nn.dequantize with one constant scale.
mlir::Value makeQuantize(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, mlir::Type element, Scale scale);
mlir::Value makeDequantize(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x, mlir::Type element, Scale scale);

/// Returns the least and the greatest value of an integer type.
std::pair<int64_t, int64_t> rangeOf(mlir::Type element);

/// Converts signed bytes to unsigned bytes by adding 128.
mlir::Value toUnsigned(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value bytes);
/// Converts unsigned bytes to signed bytes by subtracting 128.
mlir::Value toSigned(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value bytes);
constexpr int64_t kSignOffset = 128;
/// Offset that turns unsigned 16-bit integers into signed ones.
constexpr int64_t kWordOffset = -32768;

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_QUANTIZATIONPARAMETERS_H
