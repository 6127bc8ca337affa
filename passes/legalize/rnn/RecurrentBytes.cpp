//===- RecurrentBytes.cpp - recurrences with int8 weights -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Scalars.h"
#include "passes/legalize/quant/Quantize.h"
#include "passes/legalize/rnn/Recurrent.h"
#include "passes/support/DynamicScale.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

FailureOr<Value> legalize::dequantizeDirection(Node &node, size_t input,
                                              size_t scale, int64_t d) {
  Value bytes = takeDirection(node, node.input(input), d);
  auto perColumn = [&](Value value) -> Value {
    if (!value)
      return {};
    value = takeDirection(node, value, d);
    return isSingle(value) ? toScalar(node, value) : value;
  };
  Value factor = perColumn(node.input(scale)),
        zero = perColumn(node.input(scale + 1));
  if (zero && zero.getType() != typeOf(factor).clone(
                                    typeOf(bytes).getElementType()))
    return node.invalid("input " + Twine(scale + 1) +
                        " does not have the type of weights and the shape of "
                        "their scale");
  RankedTensorType type = typeOf(bytes);
  return Value(node.make<nn::DequantizeOp>(
      type.clone(typeOf(factor).getElementType()), bytes, factor, zero,
      /*axis=*/1));
}

Value legalize::multiplyByBytes(Node &node, Value x, Value weights,
                                Value bias) {
  Value pair = support::roundDynamically(node.builder, node.loc(), x);
  auto y = node.infer<nn::MatMulOp>(pair, weights, bias, /*transpose_a=*/false,
                                    /*transpose_b=*/false);
  return failed(y) ? Value() : *y;
}

LogicalResult legalize::checkWeightBytes(Node &node) {
  if (failed(needInputs(node, {0, 1, 2, 8, 9, 10, 11})))
    return failure();
  if (!node.elementType(0).isF32())
    return node.unsupported("data of another type than float");
  for (size_t i : {1, 2})
    if (!nn::isByte(node.elementType(i)))
      return node.invalid("input " + Twine(i) + " is not of bytes");
  for (size_t i : {1, 2}) {
    size_t scale = 6 + 2 * i;
    ArrayRef<int64_t> shape = node.shape(scale);
    if (!node.elementType(scale).isF32() || shape.empty() || shape.size() > 2 ||
        node.rank(i) != 3 || shape[0] != node.shape(i)[0] ||
        (shape.size() == 2 && shape[1] != node.shape(i)[2]))
      return node.invalid("input " + Twine(scale) +
                          " does not have a float scale for each direction, or "
                          "for each of its columns");
    if (failed(checkScale(node, scale, i == 1 ? "W_scale" : "R_scale")))
      return failure();
  }
  return success();
}
