//===- ElementTypes.h - numbers of element types ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps MLIR types to element type numbers. The numbers are those of ONNX's
// TensorProto.DataType, as ingot/abi/element_types.inc lists them.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_ELEMENTTYPES_H
#define INGOT_DIALECTS_INGOT_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace ingot {

/// Returns the type of strings, si32. Each string is its index in the model's
/// list of strings; strings of a run have indices behind the list. No other
/// tensor has this type, because signed integers of a model are signless.
mlir::Type stringType(mlir::MLIRContext *context);
bool isString(mlir::Type type);

/// Returns the type for an element type number; null if unknown.
mlir::Type elementTypeOf(int32_t number, mlir::MLIRContext *context);

/// Returns the element type number of a type that inputs and outputs of a model
/// may have; 0 for others. Signless integers count as signed.
uint32_t elementNumberOf(mlir::Type type);

/// Returns the bits of an element in a model's file; 0 for strings and unknown
/// types.
int64_t elementBitsOf(int32_t number);

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_ELEMENTTYPES_H
