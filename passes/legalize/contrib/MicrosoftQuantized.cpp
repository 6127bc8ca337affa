//===- MicrosoftQuantized.cpp - quantized operators of ONNX Runtime -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators of domain com.microsoft that read and write quantized tensors: each
// becomes nn.dequantize of its operands, the operator on floats, and
// nn.quantize. What only moves values is done on bytes by the quantize phase.
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/Domains.h"
#include "passes/legalize/nn/Window.h"
#include "passes/legalize/quant/Quantize.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static bool isQuantizedType(Type type) {
  return type.isInteger() && (type.getIntOrFloatBitWidth() == 8 ||
                              type.getIntOrFloatBitWidth() == 16);
}

/// Input `scale` is one float above 0, and input `zero`, if it is there, one
/// number of `element`.
static LogicalResult checkScaling(Node &node, size_t scale, size_t zero,
                                  Type element) {
  if (failed(needInputs(node, {scale})))
    return failure();
  if (!node.elementType(scale).isF32() || !isSingle(node.input(scale)))
    return node.invalid("input " + Twine(scale) + " is no scale of one float");
  if (failed(checkScale(node, scale, "input " + std::to_string(scale))))
    return failure();
  if (!node.has(zero))
    return success();
  if (!isSingle(node.input(zero)))
    return node.invalid("input " + Twine(zero) +
                        " is no zero point of one number");
  if (node.elementType(zero) != element)
    return node.invalid("input " + Twine(zero) +
                        ", a zero point, is of another type than its tensor");
  return success();
}

static Value zeroPointOf(Node &node, size_t i) {
  return node.has(i) ? toScalar(node, node.input(i)) : Value();
}

/// Input `x` as floats, with the scale and the zero point of two others.
static FailureOr<Value> dequantize(Node &node, size_t x, size_t scale,
                                   size_t zero) {
  if (failed(needInputs(node, {x})))
    return failure();
  Type element = node.elementType(x);
  if (!isQuantizedType(element))
    return node.invalid("input " + Twine(x) +
                        " is not of integers of 8 or 16 bits");
  if (failed(checkScaling(node, scale, zero, element)))
    return failure();
  return Value(node.make<nn::DequantizeOp>(
      node.type(x).clone(node.builder.getF32Type()), node.input(x),
      toScalar(node, node.input(scale)), zeroPointOf(node, zero), /*axis=*/0));
}

/// Replaces the node by `y` as integers of `element`.
static LogicalResult replaceQuantized(Node &node, FailureOr<Value> y,
                                      size_t scale, size_t zero, Type element) {
  if (failed(y) || failed(checkScaling(node, scale, zero, element)))
    return failure();
  return node.replace(node.make<nn::QuantizeOp>(
      typeOf(*y).clone(element), *y, toScalar(node, node.input(scale)),
      zeroPointOf(node, zero), /*axis=*/0));
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// A, its scale and zero point, those of B, those of C.
template <typename Op> static LogicalResult legalizeBinary(Node &node) {
  auto a = dequantize(node, 0, 1, 2), b = dequantize(node, 3, 4, 5);
  if (failed(a) || failed(b))
    return failure();
  if (node.elementType(0) != node.elementType(3))
    return node.invalid("A and B are of different types");
  return replaceQuantized(node, node.infer<Op>(*a, *b), 6, 7,
                          node.elementType(0));
}

/// X, its scale and zero point, those of Y.
static LogicalResult legalizeSigmoid(Node &node) {
  auto x = dequantize(node, 0, 1, 2);
  if (failed(x))
    return failure();
  return replaceQuantized(node, node.infer<nn::SigmoidOp>(*x), 3, 4,
                          node.elementType(0));
}

static LogicalResult legalizeLeakyRelu(Node &node) {
  auto x = dequantize(node, 0, 1, 2);
  if (failed(x))
    return failure();
  auto alpha = node.builder.getF32FloatAttr(node.getFloat("alpha", 0.01f));
  return replaceQuantized(
      node, Value(node.make<nn::LeakyReluOp>(typeOf(*x), *x, alpha)), 3, 4,
      node.elementType(0));
}

//===----------------------------------------------------------------------===//
// Softmax, pooling, concat
//===----------------------------------------------------------------------===//

/// Before opset 13 a softmax is over all dimensions from its axis on.
static LogicalResult legalizeSoftmax(Node &node) {
  auto x = dequantize(node, 0, 1, 2);
  if (failed(x))
    return failure();
  int64_t rank = node.rank(0);
  auto axis = node.normalizeAxis(node.getInt("axis", -1), rank);
  if (failed(axis))
    return failure();
  bool flattens = node.getInt("opset", 13) < 13 && *axis + 1 != rank;
  if (!flattens)
    return replaceQuantized(node,
                            node.infer<nn::SoftmaxOp>(*x, *axis, /*log=*/false),
                            3, 4, node.elementType(0));
  Sizes sizes = sizesOf(node, *x), rows(sizes.begin(), sizes.begin() + *axis);
  OpFoldResult all = sizeAttr(node, 1);
  for (OpFoldResult size : ArrayRef(sizes).drop_front(*axis))
    all = mulSizes(node, all, size);
  rows.push_back(all);
  auto y = node.infer<nn::SoftmaxOp>(reshape(node, *x, rows), *axis,
                                     /*log=*/false);
  if (failed(y))
    return failure();
  return replaceQuantized(node, reshape(node, *y, sizes), 3, 4,
                          node.elementType(0));
}

/// Dimensions of `rank` with channels second as with channels last, or back.
static SmallVector<int64_t> channelsMoved(int64_t rank, bool toLast) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (toLast)
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  else
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return perm;
}

/// Pools `x` with `pool`, which takes channels first.
static LogicalResult
legalizePool(Node &node, function_ref<FailureOr<Value>(Value)> pool) {
  auto x = dequantize(node, 0, 1, 2);
  if (failed(x))
    return failure();
  int64_t rank = node.rank(0);
  if (rank < 3)
    return node.invalid("data needs rank 3 or more, but has rank " +
                        Twine(rank));
  bool isLast = node.getInt("channels_last", 0) != 0;
  if (isLast)
    x = transpose(node, *x, channelsMoved(rank, /*toLast=*/false));
  auto y = pool(*x);
  if (succeeded(y) && isLast)
    y = transpose(node, *y, channelsMoved(rank, /*toLast=*/true));
  return replaceQuantized(node, y, 3, 4, node.elementType(0));
}

static LogicalResult legalizeAveragePool(Node &node) {
  return legalizePool(node, [&](Value x) { return averagePool(node, x); });
}

static LogicalResult legalizeGlobalAveragePool(Node &node) {
  return legalizePool(node, [&](Value x) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
    return node.infer<nn::ReduceOp>(x, nn::ReduceKind::mean, axes,
                                    /*keep_dims=*/true);
  });
}

/// Scale and zero point of Y, then three inputs for each tensor.
static LogicalResult legalizeConcat(Node &node) {
  if (node.numInputs() < 5 || node.numInputs() % 3 != 2)
    return node.invalid("expects a scale and a zero point, then three inputs "
                        "for each tensor, but got " +
                        Twine(node.numInputs()) + " inputs");
  if (failed(needInputs(node, {2})))
    return failure();
  Type element = node.elementType(2);
  SmallVector<Value> inputs;
  for (size_t i = 2; i < node.numInputs(); i += 3) {
    auto x = dequantize(node, i, i + 1, i + 2);
    if (failed(x))
      return failure();
    if (node.elementType(i) != element)
      return node.invalid("input " + Twine(i) +
                          " is of another type than input 2");
    inputs.push_back(*x);
  }
  if (!node.hasAttr("axis"))
    return node.invalid("axis is missing");
  auto axis = node.normalizeAxis(node.getInt("axis", 0), node.rank(2));
  if (failed(axis))
    return failure();
  return replaceQuantized(
      node, node.infer<nn::ConcatOp>(ValueRange(inputs), *axis), 0, 1, element);
}

//===----------------------------------------------------------------------===//
// QuantizeLinear, DequantizeLinear
//===----------------------------------------------------------------------===//

/// As ONNX's own, also in models of an opset in which those had no 16 bits.
template <LogicalResult (*legalize)(Node &)>
static LogicalResult legalizeAsOnnx(Node &node) {
  if (failed(needInputs(node, {0, 1})))
    return failure();
  return legalize(node);
}

void legalize::populateMicrosoftQuantized(Legalizers &legalizers) {
  auto add = [&](StringRef name, Legalizer legalizer) {
    legalizers.add(name, legalizer, kMicrosoftDomain);
  };
  add("DequantizeLinear", legalizeAsOnnx<legalizeDequantizeLinear>);
  add("QLinearAdd", legalizeBinary<nn::AddOp>);
  add("QLinearAveragePool", legalizeAveragePool);
  add("QLinearConcat", legalizeConcat);
  add("QLinearGlobalAveragePool", legalizeGlobalAveragePool);
  add("QLinearLeakyRelu", legalizeLeakyRelu);
  add("QLinearMul", legalizeBinary<nn::MulOp>);
  add("QLinearSigmoid", legalizeSigmoid);
  add("QLinearSoftmax", legalizeSoftmax);
  add("QuantizeLinear", legalizeAsOnnx<legalizeQuantizeLinear>);
}
