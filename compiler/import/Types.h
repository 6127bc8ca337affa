//===- Types.h - ONNX types to MLIR types -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_TYPES_H
#define INGOT_COMPILER_IMPORT_TYPES_H

#include "compiler/import/Model.h"

#include "dialects/ingot/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

namespace ingot::importer {

/// Returns the name of an element type as in ONNX text, for example "float" for
/// FLOAT.
std::string getElementName(int32_t dataType);

/// Returns the product of `dims`, or nullopt if a dimension is negative or the
/// product overflows.
std::optional<int64_t>
getNumElements(const google::protobuf::RepeatedField<int64_t> &dims);

/// Returns the size of the tensor's raw data in bytes. Returns nullopt for
/// strings, unknown types and sizes that overflow.
std::optional<int64_t> getRawBytes(const pb::TensorProto &tensor);

/// Returns a type as text, for example "seq(tensor(float))", or "" if it is
/// unknown.
std::string getTypeText(const pb::TypeProto &type);

/// Returns the MLIR type. Rank and sizes are dynamic where `type` does not
/// state them. Anything but a numeric tensor becomes an !onnx.opaque.
mlir::Type getType(const pb::TypeProto &type, mlir::MLIRContext *context);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_TYPES_H
