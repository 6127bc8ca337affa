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

/// "float" for FLOAT and so on, as in ONNX text.
std::string getElementName(int32_t dataType);

/// The product of `dims`; nullopt if one is negative or it overflows.
std::optional<int64_t>
getNumElements(const google::protobuf::RepeatedField<int64_t> &dims);

/// Bytes of raw data that a tensor of this type has; nullopt for strings,
/// unknown types and what overflows.
std::optional<int64_t> getRawBytes(const pb::TensorProto &tensor);

/// "seq(tensor(float))" and so on; "" if nothing is known.
std::string getTypeText(const pb::TypeProto &type);

/// A tensor type of unknown rank or size where `type` does not tell; an
/// !onnx.opaque for anything but a tensor of numbers.
mlir::Type getType(const pb::TypeProto &type, mlir::MLIRContext *context);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_TYPES_H
