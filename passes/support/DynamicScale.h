//===- DynamicScale.h - scales that a run finds -----------------*- C++ -*-===//
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

/// A tensor of floats in unsigned bytes, with their scale and zero point: those
/// of ONNX's DynamicQuantizeLinear.
struct DynamicBytes {
  mlir::Value bytes, scale, zeroPoint;
};

/// Quantizes `x` by the range that it has in a run, and 0. Where all of it is
/// 0, any scale is right, and 1 divides.
DynamicBytes quantizeDynamically(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value x);

/// `x` as its bytes have it: quantizeDynamically, and back to floats.
mlir::Value roundDynamically(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value x);

/// `sums` of products of bytes, of i32, less what a zero point that only the
/// run knows adds to them: its product with `weightSums`, i32 sums of weights
/// that broadcast to `sums`.
mlir::Value takeOffZeroPoint(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value sums, mlir::Value zeroPoint,
                             mlir::Value weightSums);

/// `x`, of a convolution, with its padding of `zeroPoint`, and the pads that
/// are left. What crops stays where it is.
std::pair<mlir::Value, llvm::SmallVector<int64_t>>
padWithZeroPoint(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                 mlir::Value zeroPoint, llvm::ArrayRef<int64_t> pads,
                 bool channelsLast);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_DYNAMICSCALE_H
