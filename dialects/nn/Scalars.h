//===- Scalars.h - scalar arithmetic of elements ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts between elements of tensors and scalars of `arith`. Scalars are
// signless, so functions take the sign separately.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_SCALARS_H
#define INGOT_DIALECTS_NN_SCALARS_H

#include "mlir/IR/Builders.h"

namespace ingot::nn {

/// Adding this constant to an f32 rounds it to an integer, because the step of
/// f32 is 1 from 2^23 on. The low bits of the sum contain the integer.
constexpr float kWholeSteps = 0x1.8p23F;

/// Returns the type of elements in memory and in linalg: `ui8` becomes `i8` and
/// so on. Integers and floats of less than a byte, and 8-bit floats, become
/// `i8`. Other types, including tensors of them, are unchanged.
mlir::Type signless(mlir::Type type);

/// Returns true if the types of storage and of arithmetic differ: for integers
/// of less than a byte, and floats of at most a byte.
bool isCoded(mlir::Type type);

/// Converts a stored scalar of type `element` to a value for arithmetic. An
/// integer becomes i8. A float becomes f32, or f64 if `isWide`.
mlir::Value load(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value stored, mlir::Type element, bool isWide = false);

/// Converts a value from `load` to its stored form. Rounds to nearest.
mlir::Value store(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value number, mlir::Type element);

/// Returns true if the element type is an unsigned integer or i1.
bool isUnsigned(mlir::Type type);

/// Returns true for an integer of eight bits, signed, unsigned or signless.
bool isByte(mlir::Type type);

/// Returns true for the integer types that kernels multiply: eight bits with
/// any sign, and i16.
bool isInt8OrInt16(mlir::Type type);

/// Returns the type of sums of products of `type`: i32 for bytes and int16,
/// else `type`.
mlir::Type productElement(mlir::Type type);

/// Makes a scalar constant of a signless or float type.
mlir::Value scalar(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Type type, double value);

/// Returns the type for arithmetic: f32 for narrower floats, otherwise `type`.
mlir::Type computeType(mlir::Type type);

/// Converts scalars between float, integer and i1 types with the rules of ONNX
/// Cast. `fromUnsigned` and `toUnsigned` state if integers are unsigned.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, mlir::Type to,
                          bool fromUnsigned, bool toUnsigned);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_SCALARS_H
