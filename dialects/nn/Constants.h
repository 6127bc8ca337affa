//===- Constants.h - reading and making constant tensors --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights are DenseResourceElementsAttrs (large, often mapped from the model
// file); small constants are DenseElementsAttrs, which MLIR uniques. These
// helpers hide the difference.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_CONSTANTS_H
#define INGOT_DIALECTS_NN_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace ingot::nn {

/// Above this many bytes a constant becomes a resource blob.
constexpr int64_t kMaxUniquedBytes = 1024;

/// The elements attribute of a constant value, or null.
mlir::ElementsAttr getConstant(mlir::Value value);

/// The elements of a constant of numbers, row-major, as double; nullopt if
/// `value` is not one. i1 reads as 0 or 1.
std::optional<std::vector<double>> getConstantDoubles(mlir::Value value);

/// The elements of a constant of integers (or i1, index), row-major.
std::optional<llvm::SmallVector<int64_t>> getConstantInts(mlir::Value value);
/// The same for an attribute.
std::optional<std::vector<double>> readDoubles(mlir::ElementsAttr attr);
std::optional<llvm::SmallVector<int64_t>> readInts(mlir::ElementsAttr attr);

/// If every element of the constant is the same number, that number.
std::optional<double> getSplat(mlir::Value value);

/// The raw little-endian bytes of a constant (1 byte an i1), without a copy
/// where the attribute holds them so; a splat is expanded into `storage`.
std::optional<llvm::ArrayRef<char>>
getRawBytes(mlir::ElementsAttr attr, std::vector<char> &storage);

/// A constant attribute from raw bytes (1 byte an i1): uniqued if small, a
/// resource blob otherwise.
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    std::vector<char> bytes);

/// A constant op of `type` from doubles, rounded to the element type.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::RankedTensorType type,
                         llvm::ArrayRef<double> values);
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    llvm::ArrayRef<double> values);
/// A 1-d i64 constant.
mlir::Value makeIntConstant(mlir::OpBuilder &builder, mlir::Location loc,
                            llvm::ArrayRef<int64_t> values);
/// A rank-0 constant.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, double value);

/// Bytes of one element in memory: i1 and sub-byte types take one.
int64_t elementBytes(mlir::Type elementType);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_CONSTANTS_H
