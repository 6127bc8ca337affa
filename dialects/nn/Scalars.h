//===- Scalars.h - scalar arithmetic of elements ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handles elements of tensors as scalars of `arith`, which are signless; the
// sign is separate.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_SCALARS_H
#define INGOT_DIALECTS_NN_SCALARS_H

#include "mlir/IR/Builders.h"

namespace ingot::nn {

/// Returns the type of elements in memory and in linalg: `ui8` becomes `i8` and
/// so on. Integers and floats of at most eight bits that need a byte become
/// `i8`. Other types, including tensors of them, are unchanged.
mlir::Type signless(mlir::Type type);

/// Returns true if elements are stored and computed in different types:
/// integers below a byte and floats of at most a byte.
bool isCoded(mlir::Type type);

/// Converts a stored scalar of element type `element` to a value for
/// arithmetic: i8 for an integer; f32, or f64 if `isWide`, for a float.
mlir::Value load(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value stored, mlir::Type element, bool isWide = false);

/// Converts a value from `load` to its stored form, rounded to nearest.
mlir::Value store(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value number, mlir::Type element);

/// Returns true if the element type is an unsigned integer or i1.
bool isUnsigned(mlir::Type type);

/// Returns true for an integer of eight bits with any sign.
bool isByte(mlir::Type type);

/// Returns true for an integer of eight bits or an i16: the integer types that
/// kernels multiply.
bool isInt8OrInt16(mlir::Type type);

/// Returns the type of sums of products of `type`: i32 for bytes and int16,
/// else `type`.
mlir::Type productElement(mlir::Type type);

/// Makes a scalar constant of a signless or float type.
mlir::Value scalar(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Type type, double value);

/// Returns the type of arithmetic: f32 for narrower floats, else `type`.
mlir::Type computeType(mlir::Type type);

/// Converts scalars between float, integer and i1 types as ONNX Cast does.
/// `fromUnsigned` and `toUnsigned` give the signs of integers.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, mlir::Type to,
                          bool fromUnsigned, bool toUnsigned);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_SCALARS_H
