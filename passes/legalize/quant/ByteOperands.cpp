//===- ByteOperands.cpp - operands of products of bytes -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/quant/ByteOperands.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Converts between int8 and uint8 by adding or subtracting 128, which flips
/// the highest bit.
static Value flipSign(Node &node, Value bytes, Type to) {
  Type bits = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  Value flipped =
      node.make<nn::XorOp>(node.cast(bytes, bits), node.scalar(bits, 128));
  return node.cast(flipped, to);
}

FailureOr<Bytes> legalize::withSign(Node &node, Value value, Value zero,
                                    Type to,
                                    function_ref<Value(Value)> shaped) {
  Type i32 = node.builder.getI32Type();
  int64_t offset = 0;
  if (typeOf(value).getElementType() != to) {
    offset = to.isUnsignedInteger() ? 128 : -128;
    value = flipSign(node, value, to);
  }
  std::optional<double> known = zero ? nn::getSplat(zero) : 0.0;
  if (known && *known + offset == 0)
    return Bytes{value, Value()};
  if (known)
    return Bytes{value, node.scalar(i32, *known + offset)};
  zero = node.cast(shaped(zero), i32);
  if (offset == 0)
    return Bytes{value, zero};
  auto moved = node.infer<nn::AddOp>(zero, node.scalar(i32, offset));
  return failed(moved) ? FailureOr<Bytes>(failure()) : Bytes{value, *moved};
}

std::optional<std::vector<double>>
legalize::lessZeroPoints(Value value, Value zero, int64_t dim) {
  auto numbers = nn::getConstantInts(value);
  auto zeros = zero ? nn::getConstantInts(zero) : SmallVector<int64_t>{0};
  RankedTensorType type = typeOf(value);
  if (!numbers || !zeros || zeros->empty() ||
      (zeros->size() != 1 && (typeOf(zero).getRank() != 1 ||
                              int64_t(zeros->size()) != type.getDimSize(dim))))
    return std::nullopt;
  int64_t behind = 1;
  for (int64_t size : type.getShape().drop_front(dim + 1))
    behind *= size;
  std::vector<double> moved;
  moved.reserve(numbers->size());
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    int64_t at = zeros->size() == 1 ? 0 : int64_t(i) / behind % zeros->size();
    moved.push_back(double(number - (*zeros)[at]));
  }
  return moved;
}

bool legalize::areBytes(ArrayRef<double> weights) {
  return llvm::all_of(
      weights, [](double weight) { return weight >= -128 && weight <= 127; });
}

Value legalize::makeBytes(Node &node, Value value, ArrayRef<double> bytes) {
  return nn::makeConstant(node.builder, node.loc(),
                          typeOf(value).clone(node.builder.getI8Type()), bytes);
}

Value legalize::foldZeroPoint(Node &node, Value value, Value zero,
                              int64_t dim) {
  auto moved = lessZeroPoints(value, zero, dim);
  if (!moved || !areBytes(*moved))
    return {};
  return makeBytes(node, value, *moved);
}

FailureOr<Value> legalize::addRemainder(Node &node, Value sums, Bytes data,
                                        ArrayRef<int64_t> shape,
                                        ArrayRef<double> amounts) {
  Type i32 = node.builder.getI32Type();
  FailureOr<Value> factor = node.cast(data.bytes, i32);
  if (data.zero)
    factor = node.infer<nn::SubOp>(*factor, data.zero);
  if (failed(factor))
    return failure();
  auto more = node.infer<nn::MulOp>(
      *factor, nn::makeConstant(node.builder, node.loc(),
                                RankedTensorType::get(shape, i32), amounts));
  if (failed(more))
    return failure();
  return node.infer<nn::AddOp>(sums, *more);
}
