//===- PackedElements.h - several elements in a byte ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of less than a byte lie at the model's edges as element_types.inc
// says, one behind the other, and inside of it in a byte each.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_PACKEDELEMENTS_H
#define INGOT_PASSES_MEMORY_PACKEDELEMENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot {

/// The bytes of `count` elements of `bits` bits: a size of a tensor.
mlir::OpFoldResult packedBytes(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::OpFoldResult count, int64_t bits);

/// The product of sizes.
mlir::OpFoldResult countElements(mlir::OpBuilder &builder, mlir::Location loc,
                                 llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// A tensor of `type`, whose elements are i8 and whose sizes are `sizes`, of
/// the packed bytes. The upper bits of its elements may be anything.
mlir::Value unpackElements(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value bytes, mlir::RankedTensorType type,
                           llvm::ArrayRef<mlir::OpFoldResult> sizes,
                           int64_t bits);

/// The packed bytes of a tensor of i8, of whose elements the lower bits count.
/// What is left of the last byte is zero.
mlir::Value packElements(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value elements, int64_t bits);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_PACKEDELEMENTS_H
