//===- Types.cpp - ONNX types to MLIR types ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Types.h"

#include "dialects/onnx/OnnxDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::importer {

using pb::TensorProto;

Type getElementType(int32_t dataType, MLIRContext *context) {
  auto integer = [&](unsigned width) -> Type {
    return IntegerType::get(context, width);
  };
  auto unsignedInteger = [&](unsigned width) -> Type {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dataType) {
  case TensorProto::FLOAT:
    return Float32Type::get(context);
  case TensorProto::DOUBLE:
    return Float64Type::get(context);
  case TensorProto::FLOAT16:
    return Float16Type::get(context);
  case TensorProto::BFLOAT16:
    return BFloat16Type::get(context);
  case TensorProto::BOOL:
    return integer(1);
  case TensorProto::INT2:
    return integer(2);
  case TensorProto::INT4:
    return integer(4);
  case TensorProto::INT8:
    return integer(8);
  case TensorProto::INT16:
    return integer(16);
  case TensorProto::INT32:
    return integer(32);
  case TensorProto::INT64:
    return integer(64);
  case TensorProto::UINT2:
    return unsignedInteger(2);
  case TensorProto::UINT4:
    return unsignedInteger(4);
  case TensorProto::UINT8:
    return unsignedInteger(8);
  case TensorProto::UINT16:
    return unsignedInteger(16);
  case TensorProto::UINT32:
    return unsignedInteger(32);
  case TensorProto::UINT64:
    return unsignedInteger(64);
  case TensorProto::COMPLEX64:
    return ComplexType::get(Float32Type::get(context));
  case TensorProto::COMPLEX128:
    return ComplexType::get(Float64Type::get(context));
  case TensorProto::FLOAT8E4M3FN:
    return Float8E4M3FNType::get(context);
  case TensorProto::FLOAT8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case TensorProto::FLOAT8E5M2:
    return Float8E5M2Type::get(context);
  case TensorProto::FLOAT8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case TensorProto::FLOAT8E8M0:
    return Float8E8M0FNUType::get(context);
  case TensorProto::FLOAT6E2M3:
    return Float6E2M3FNType::get(context);
  case TensorProto::FLOAT6E3M2:
    return Float6E3M2FNType::get(context);
  case TensorProto::FLOAT4E2M1:
    return Float4E2M1FNType::get(context);
  default:
    return {};
  }
}

int64_t getElementBits(int32_t dataType) {
  switch (dataType) {
  case TensorProto::UINT2:
  case TensorProto::INT2:
    return 2;
  case TensorProto::UINT4:
  case TensorProto::INT4:
  case TensorProto::FLOAT4E2M1:
    return 4;
  case TensorProto::FLOAT6E2M3:
  case TensorProto::FLOAT6E3M2:
    return 6;
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
  case TensorProto::FLOAT8E4M3FN:
  case TensorProto::FLOAT8E4M3FNUZ:
  case TensorProto::FLOAT8E5M2:
  case TensorProto::FLOAT8E5M2FNUZ:
  case TensorProto::FLOAT8E8M0:
    return 8;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 16;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 32;
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
  case TensorProto::UINT64:
  case TensorProto::COMPLEX64:
    return 64;
  case TensorProto::COMPLEX128:
    return 128;
  default:
    return 0;
  }
}

std::string getElementName(int32_t dataType) {
  if (TensorProto::DataType_IsValid(dataType))
    return StringRef(TensorProto::DataType_Name(TensorProto::DataType(dataType)))
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
  int64_t bits = getElementBits(tensor.data_type());
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
    element = getElementType(type.tensor_type().elem_type(), context);
  if (!element)
    return onnx::OpaqueType::get(context, getTypeText(type));
  if (!type.tensor_type().has_shape())
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> shape;
  for (const pb::TensorShapeProto::Dimension &dim :
       type.tensor_type().shape().dim())
    // Inference may come to negative sizes; the legalizer reports why.
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0
                        ? dim.dim_value()
                        : ShapedType::kDynamic);
  return RankedTensorType::get(shape, element);
}

} // namespace ingot::importer
