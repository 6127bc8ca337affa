//===- Destination.h - where ops write their results ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_DESTINATION_H
#define INGOT_PASSES_SUPPORT_DESTINATION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::lower {

/// tensor.empty of `type`; `size` computes the dims that are dynamic.
mlir::Value
createDestination(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::RankedTensorType type,
                  llvm::function_ref<mlir::Value(int64_t)> size);

/// tensor.empty as large as `like`.
mlir::Value createDestinationLike(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Value like);

/// A destination for windows moving over channels-last `x`.
mlir::Value createWindowed(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x, mlir::RankedTensorType type,
                           llvm::ArrayRef<int64_t> kernel,
                           llvm::ArrayRef<int64_t> strides,
                           llvm::ArrayRef<int64_t> pads,
                           llvm::ArrayRef<int64_t> dilations);

/// `(value * scale + offset) / divisor + more`, for positive results.
mlir::Value scaleIndex(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, int64_t scale, int64_t offset,
                       int64_t divisor, int64_t more);

} // namespace ingot::lower

#endif // INGOT_PASSES_SUPPORT_DESTINATION_H
