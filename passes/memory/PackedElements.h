//===- PackedElements.h - elements of less than a byte ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs and unpacks elements of less than a byte. Inputs and outputs of the
// model hold them packed, as element_types.inc defines. Inside of the model
// each element takes one byte.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_PACKEDELEMENTS_H
#define INGOT_PASSES_MEMORY_PACKEDELEMENTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot {

/// Returns the number of bytes of `count` packed elements of `bits` bits.
mlir::OpFoldResult packedBytes(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::OpFoldResult count, int64_t bits);

/// Returns the product of sizes.
mlir::OpFoldResult countElements(mlir::OpBuilder &builder, mlir::Location loc,
                                 llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Unpacks `bytes` to a tensor of `type`. Its elements are i8 and its sizes are
/// `sizes`. The upper bits of each element are undefined.
mlir::Value unpackElements(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value bytes, mlir::RankedTensorType type,
                           llvm::ArrayRef<mlir::OpFoldResult> sizes,
                           int64_t bits);

/// Packs the lower `bits` bits of each element of an i8 tensor. Unused bits of
/// the last byte are zero.
mlir::Value packElements(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value elements, int64_t bits);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_PACKEDELEMENTS_H
