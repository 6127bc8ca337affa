//===- ElementTypes.h - numbers of element types ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps MLIR types to element type numbers. The numbers are those of ONNX's
// TensorProto.DataType and are listed in ingot/abi/element_types.inc.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_ELEMENTTYPES_H
#define INGOT_DIALECTS_INGOT_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace ingot {

/// Returns the element type of strings, si32. An element is the index of a
/// string in the model's list of strings. Other strings of a run have higher
/// indices. No other tensor has this type, because integers of a model are
/// signless.
mlir::Type stringType(mlir::MLIRContext *context);
bool isString(mlir::Type type);

/// Returns the type with this element type number; null if the number is
/// unknown.
mlir::Type elementTypeOf(int32_t number, mlir::MLIRContext *context);

/// Returns the element type number of a type that inputs and outputs may have;
/// 0 for other types. Signless integers have the numbers of signed ones.
uint32_t elementNumberOf(mlir::Type type);

/// Returns the number of bits of an element in a model's file; 0 for strings
/// and unknown types.
int64_t elementBitsOf(int32_t number);

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_ELEMENTTYPES_H
