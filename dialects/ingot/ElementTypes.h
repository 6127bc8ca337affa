//===- ElementTypes.h - numbers of element types ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers are those of ONNX's TensorProto.DataType, as
// ingot/abi/element_types.inc lists them.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_ELEMENTTYPES_H
#define INGOT_DIALECTS_INGOT_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace ingot {

/// What stands for strings: si32, the place of each in the model's list of
/// strings or, of those that a run brings, behind it. No number of a model has
/// this type: integers with a sign are signless.
mlir::Type stringType(mlir::MLIRContext *context);
bool isString(mlir::Type type);

/// The type of a number; null for what is unknown.
mlir::Type elementTypeOf(int32_t number, mlir::MLIRContext *context);

/// The number of a type that the inputs and outputs of a model may have; 0 for
/// others. Integers without a sign count as signed.
uint32_t elementNumberOf(mlir::Type type);

/// Bits of one element in a model's file; 0 for strings and what is unknown.
int64_t elementBitsOf(int32_t number);

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_ELEMENTTYPES_H
