//===- Types.cpp - ONNX types to MLIR types -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Types.h"

#include "dialects/ingot/ElementTypes.h"
#include "dialects/onnx/OnnxDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::importer {

using pb::TensorProto;

#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  static_assert(TensorProto::NAME == NUMBER, #NAME);
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  static_assert(TensorProto::NAME == NUMBER, #NAME);
#define INGOT_STORED_TYPE(NAME, NUMBER, KIND, BITS, FORMAT)                    \
  static_assert(TensorProto::NAME == NUMBER, #NAME);
#include "runtime/include/ingot/abi/element_types.inc"

std::string getElementName(int32_t dataType) {
  if (TensorProto::DataType_IsValid(dataType))
    return StringRef(
               TensorProto::DataType_Name(TensorProto::DataType(dataType)))
        .lower();
  return "type " + std::to_string(dataType);
}

std::optional<int64_t>
getNumElements(const google::protobuf::RepeatedField<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || llvm::MulOverflow(count, dim, count))
      return std::nullopt;
  return count;
}

std::optional<int64_t> getRawBytes(const TensorProto &tensor) {
  std::optional<int64_t> count = getNumElements(tensor.dims());
  int64_t bits = elementBitsOf(tensor.data_type());
  if (!count || !bits || llvm::MulOverflow(*count, bits, bits))
    return std::nullopt;
  return bits / 8 + (bits % 8 != 0);
}

//===----------------------------------------------------------------------===//
// TypeProto
//===----------------------------------------------------------------------===//

std::string getTypeText(const pb::TypeProto &type) {
  switch (type.value_case()) {
  case pb::TypeProto::kTensorType:
    return "tensor(" + getElementName(type.tensor_type().elem_type()) + ")";
  case pb::TypeProto::kSparseTensorType:
    return "sparse_tensor(" +
           getElementName(type.sparse_tensor_type().elem_type()) + ")";
  case pb::TypeProto::kSequenceType:
    return "seq(" + getTypeText(type.sequence_type().elem_type()) + ")";
  case pb::TypeProto::kOptionalType:
    return "optional(" + getTypeText(type.optional_type().elem_type()) + ")";
  case pb::TypeProto::kMapType:
    return "map(" + getElementName(type.map_type().key_type()) + "," +
           getTypeText(type.map_type().value_type()) + ")";
  case pb::TypeProto::kOpaqueType:
    return "opaque(" + type.opaque_type().domain() + "," +
           type.opaque_type().name() + ")";
  case pb::TypeProto::VALUE_NOT_SET:
    return "";
  }
  return "";
}

Type getType(const pb::TypeProto &type, MLIRContext *context) {
  Type element;
  if (type.has_tensor_type())
    element = elementTypeOf(type.tensor_type().elem_type(), context);
  if (!element)
    return onnx::OpaqueType::get(context, getTypeText(type));
  if (!type.tensor_type().has_shape())
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> shape;
  for (const pb::TensorShapeProto::Dimension &dim :
       type.tensor_type().shape().dim())
    // Inference may find negative sizes. The legalizer reports their cause.
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0
                        ? dim.dim_value()
                        : ShapedType::kDynamic);
  return RankedTensorType::get(shape, element);
}

} // namespace ingot::importer
