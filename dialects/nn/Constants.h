//===- Constants.h - reading and making constant tensors --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and makes constants. Weights are DenseResourceElementsAttrs: they are
// large, and often mapped from the model file. Small constants are
// DenseElementsAttrs, which MLIR uniques. The functions here work with both.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_CONSTANTS_H
#define INGOT_DIALECTS_NN_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace ingot::nn {

/// Size in bytes above which a constant becomes a resource blob.
constexpr int64_t kMaxUniquedBytes = 1024;

/// Returns the elements attribute of a constant value, or null.
mlir::ElementsAttr getConstant(mlir::Value value);

/// Returns the elements of a numeric constant as double, in row-major order.
/// Returns nullopt if `value` is not a numeric constant. Elements of i1 are 0
/// or 1.
std::optional<std::vector<double>> getConstantDoubles(mlir::Value value);

/// Returns the elements of a constant of integers, i1 or index, in row-major
/// order.
std::optional<llvm::SmallVector<int64_t>> getConstantInts(mlir::Value value);
/// Returns the elements of an attribute.
std::optional<std::vector<double>> readDoubles(mlir::ElementsAttr attr);
std::optional<llvm::SmallVector<int64_t>> readInts(mlir::ElementsAttr attr);

/// Returns the common value of all elements of the constant, or nullopt.
std::optional<double> getSplat(mlir::Value value);

/// Returns the raw little-endian bytes of a constant, with 1 byte per i1. If
/// the attribute stores them in this form, does not copy them. Expands a splat
/// into `storage`.
std::optional<llvm::ArrayRef<char>>
getRawBytes(mlir::ElementsAttr attr, std::vector<char> &storage);

/// Makes a constant attribute from raw bytes, with 1 byte per i1. A small
/// constant is uniqued. A large one becomes a resource blob.
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    std::vector<char> bytes);

/// Makes a constant op of `type` from doubles. Rounds them to the element type.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::RankedTensorType type,
                         llvm::ArrayRef<double> values);
mlir::ElementsAttr makeConstantAttr(mlir::RankedTensorType type,
                                    llvm::ArrayRef<double> values);
/// Makes a rank-0 constant.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, double value);

/// Returns the bytes of an element in memory. An element of less than a byte,
/// such as i1, takes one byte.
int64_t elementBytes(mlir::Type elementType);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_CONSTANTS_H
