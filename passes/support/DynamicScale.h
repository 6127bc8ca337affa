//===- DynamicScale.h - quantization at run time ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_DYNAMICSCALE_H
#define INGOT_PASSES_SUPPORT_DYNAMICSCALE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::support {

/// A tensor in uint8 with its scale and zero point, as ONNX's
/// DynamicQuantizeLinear computes them.
struct DynamicBytes {
  mlir::Value bytes, scale, zeroPoint;
};

/// The elements of a tensor that share a range.
enum class RangeOf { tensor, row };

/// Quantizes `x` by its range at run time, extended to 0. If all elements are
/// 0, the scale is 1. With ranges of rows, scale and zero point have the shape
/// of `x` with a last dimension of 1.
///
/// An infinite element becomes the least or the greatest byte, and the scale
/// becomes infinite. Sums of products of these bytes have the sign of the
/// infinity times its weight. The scale is NaN if an element is NaN, or if
/// there are infinities of both signs.
DynamicBytes quantizeDynamically(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value x,
                                 RangeOf range = RangeOf::tensor);

/// Quantizes `x` by quantizeDynamically, and dequantizes it.
mlir::Value roundDynamically(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value x, RangeOf range = RangeOf::tensor);

/// Scales of weights as products of two factors. Sums of products of bytes are
/// multiplied by `first`, the scale of the data and `second`, in this order. No
/// intermediate result leaves the range of f32 unless the product does.
struct SplitScales {
  /// `second` is empty if all of its factors are 1.
  llvm::SmallVector<double> first, second;
};

/// Splits the positive scales of weights.
SplitScales splitScales(llvm::ArrayRef<double> scales);

/// Subtracts the contribution of a zero point from `sums`, which are i32 sums
/// of products of int8 values. The zero point is computed at run time. The
/// contribution is the zero point times `weightSums`, i32 sums of weights. Both
/// broadcast to `sums`.
mlir::Value takeOffZeroPoint(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value sums, mlir::Value zeroPoint,
                             mlir::Value weightSums);

/// Pads the data `x` of a convolution with `zeroPoint`. Returns the pads that
/// the convolution must still apply: negative pads, which crop.
std::pair<mlir::Value, llvm::SmallVector<int64_t>>
padWithZeroPoint(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                 mlir::Value zeroPoint, llvm::ArrayRef<int64_t> pads,
                 bool channelsLast);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_DYNAMICSCALE_H
