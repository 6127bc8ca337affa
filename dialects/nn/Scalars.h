//===- Scalars.h - scalar arithmetic of elements ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of tensors as scalars of arith: signless, with the sign on the side.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_SCALARS_H
#define INGOT_DIALECTS_NN_SCALARS_H

#include "mlir/IR/Builders.h"

namespace ingot::nn {

/// What elements of a type are in memory and in linalg: `ui8` → `i8` and so on,
/// and a byte that holds the bits of what has fewer than eight, or of a float
/// of eight. Other types, tensors among them, as they are.
mlir::Type signless(mlir::Type type);

/// Whether elements are computed with as another type than they are stored:
/// integers of less than a byte, floats of no more than one.
bool isCoded(mlir::Type type);

/// A scalar that elements of type `element` are stored as, as a number: an i8
/// for an integer; an f32, or f64 if `isWide`, for a float.
mlir::Value load(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value stored, mlir::Type element, bool isWide = false);

/// The other way round for what load returns, rounded to nearest.
mlir::Value store(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value number, mlir::Type element);

/// Whether the element type is an unsigned integer (or i1).
bool isUnsigned(mlir::Type type);

/// Whether it is an integer of eight bits, of any sign.
bool isByte(mlir::Type type);

/// The same, or i16, the words that kernels multiply.
bool isByteOrWord(mlir::Type type);

/// What sums of products of `type` are of: i32 of bytes and words, else `type`.
mlir::Type productElement(mlir::Type type);

/// A scalar constant of a signless or float type.
mlir::Value scalar(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Type type, double value);

/// The type arithmetic is done in: f32 for narrower floats, else `type`.
mlir::Type computeType(mlir::Type type);

/// Numeric conversion of scalars between float, integer and i1 types as ONNX
/// Cast does it; `fromUnsigned`, `toUnsigned` give the signs of integers.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, mlir::Type to,
                          bool fromUnsigned, bool toUnsigned);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_SCALARS_H
