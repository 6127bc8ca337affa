//===- MicrosoftQuantized.cpp - quantized operators of ONNX Runtime -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes operators of domain com.microsoft that read and write quantized
// tensors. Each becomes nn.dequantize of its operands, the operator on floats,
// and nn.quantize. The quantize phase later lets operators that only move
// values work on integers.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/onnx/Domains.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/legalize/nn/WindowAttributes.h"
#include "passes/legalize/quant/Quantize.h"
#include "passes/support/PackedCodes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static bool isQuantizedType(Type type) {
  return type.isInteger() && (type.getIntOrFloatBitWidth() == 8 ||
                              type.getIntOrFloatBitWidth() == 16);
}

/// Requires input `scale` to be one positive float. Input `zero`, if present,
/// is one value of `element`.
static LogicalResult checkScaling(Node &node, size_t scale, size_t zero,
                                  Type element) {
  if (failed(needInputs(node, {scale})))
    return failure();
  if (!node.elementType(scale).isF32() || !isSingle(node.input(scale)))
    return node.invalid("input " + Twine(scale) +
                        " is not a scale of one float");
  if (failed(checkScale(node, scale, "input " + std::to_string(scale))))
    return failure();
  if (!node.has(zero))
    return success();
  if (!isSingle(node.input(zero)))
    return node.invalid("input " + Twine(zero) +
                        " is not a zero point of one number");
  if (node.elementType(zero) != element)
    return node.invalid("input " + Twine(zero) +
                        ", a zero point, is of another type than its tensor");
  return success();
}

static Value zeroPointOf(Node &node, size_t i) {
  return node.has(i) ? toScalar(node, node.input(i)) : Value();
}

/// Dequantizes input `x` with the scale and the zero point of two other inputs.
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

/// Replaces the node by `y`, quantized to `element`.
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

/// Legalizes QLinearAdd and QLinearMul. Inputs: A, its scale and zero point; B,
/// its scale and zero point; scale and zero point of C.
template <typename Op> static LogicalResult legalizeBinary(Node &node) {
  auto a = dequantize(node, 0, 1, 2), b = dequantize(node, 3, 4, 5);
  if (failed(a) || failed(b))
    return failure();
  if (node.elementType(0) != node.elementType(3))
    return node.invalid("A and B are of different types");
  return replaceQuantized(node, node.infer<Op>(*a, *b), 6, 7,
                          node.elementType(0));
}

/// Legalizes QLinearSigmoid. Inputs: X, its scale and zero point; scale and
/// zero point of Y.
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

/// Legalizes QLinearSoftmax. Before opset 13, it is over all dimensions from
/// the axis on.
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

/// Returns the permutation that moves channels from second to last, or back.
static SmallVector<int64_t> channelsMoved(int64_t rank, bool toLast) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (toLast)
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  else
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return perm;
}

/// Pools `x` with `pool`, which needs channels first.
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

/// Legalizes QLinearConcat. Inputs: scale and zero point of Y; then each
/// tensor, its scale and its zero point.
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
// GatherBlockQuantized
//===----------------------------------------------------------------------===//

/// Unpacks constant bytes that hold two numbers of 4 bits each, the lower
/// first. The last dimension of the result has `last` elements.
static FailureOr<Value> unpackHalves(Node &node, size_t i, int64_t last) {
  auto bytes = nn::getConstantInts(node.input(i));
  if (!bytes)
    return node.unsupported("computed numbers of 4 bits");
  SmallVector<int64_t> shape(node.shape(i));
  const int64_t stride = shape.empty() ? 0 : shape.back(),
                wanted = (last + 1) / 2;
  if (shape.empty() || stride != wanted)
    return node.invalid("expects " + Twine(wanted) +
                        " bytes in the last dimension of input " + Twine(i) +
                        ", but got " + Twine(stride));
  shape.back() = last;
  std::vector<double> numbers(ShapedType::getNumElements(shape));
  for (auto [at, number] : llvm::enumerate(numbers)) {
    const int64_t row = int64_t(at) / last, k = int64_t(at) % last;
    number = support::readCode(&(*bytes)[row * stride], k, /*bits=*/4);
  }
  Type element = IntegerType::get(node.context(), 4, IntegerType::Unsigned);
  return nn::makeConstant(node.builder, node.loc(),
                          RankedTensorType::get(shape, element), numbers);
}

/// Returns the zero points of blocks, or null if all are 0. Bytes have the
/// middle of their range by default.
static FailureOr<Value> zeroPointsOf(Node &node, Type element, bool isPacked) {
  if (node.has(3)) {
    if (node.elementType(3) != node.elementType(0))
      return node.invalid("input 3 is of another type than input 0");
    return isPacked ? unpackHalves(node, 3, node.shape(2).back())
                    : node.input(3);
  }
  if (!node.elementType(0).isUnsignedInteger(8))
    return Value();
  const double middle = isPacked ? 8 : 128;
  RankedTensorType type = node.type(2).clone(element);
  return nn::makeConstant(
      node.builder, node.loc(), type,
      std::vector<double>(size_t(type.getNumElements()), middle));
}

/// Legalizes GatherBlockQuantized: a lookup in a table of 4 or 8 bits, with a
/// scale and a zero point for each block. Inputs: table, indices, scales, zero
/// points.
static LogicalResult legalizeGatherBlocks(Node &node) {
  if (failed(needInputs(node, {0, 1, 2})))
    return failure();
  const int64_t bits = node.getInt("bits", 4),
                block = node.getInt("block_size", 128), rank = node.rank(0);
  Type element = node.elementType(0), real = node.elementType(2);
  const bool isByte = element.isUnsignedInteger(8),
             isPacked = isByte && bits == 4;
  if ((!isByte && !element.isInteger(4)) || (bits != 4 && bits != 8))
    return node.invalid("input 0 is not of int4, uint4, or uint8 of 4 or 8 "
                        "bits");
  if (!isa<FloatType>(real) || real.isF64() ||
      real.getIntOrFloatBitWidth() < 16)
    return node.invalid("input 2 is not of floats of 16 or 32 bits");
  auto axis = node.normalizeAxis(node.getInt("gather_axis", 0), rank);
  auto blocks = node.normalizeAxis(node.getInt("quantize_axis", 1), rank);
  if (failed(axis) || failed(blocks))
    return failure();
  if (*axis == *blocks || (isByte && *blocks != rank - 1))
    return node.unsupported("blocks along this dimension");
  if (!nn::getConstant(node.input(0)) || !nn::getConstant(node.input(2)) ||
      (node.has(3) && !nn::getConstant(node.input(3))))
    return node.unsupported("a computed table");
  FailureOr<Value> table = node.input(0);
  if (isPacked)
    table = unpackHalves(node, 0, 2 * node.shape(0).back());
  if (failed(table))
    return failure();
  RankedTensorType type = typeOf(*table);
  SmallVector<int64_t> shape(type.getShape());
  if (block < 1)
    return node.invalid("block_size is " + Twine(block));
  shape[*blocks] = llvm::divideCeil(shape[*blocks], block);
  if (node.shape(2) != ArrayRef(shape))
    return node.invalid("input 2 has no scale for each block of " +
                        Twine(block) + " elements");
  auto zeros = zeroPointsOf(node, type.getElementType(), isPacked);
  if (failed(zeros))
    return failure();
  if (*zeros && typeOf(*zeros).getShape() != ArrayRef(shape))
    return node.invalid("scale and zero point have different shapes");
  Value values = node.make<nn::DequantizeBlocksOp>(
      type.clone(real), *table,
      node.cast(node.input(2), node.builder.getF32Type()), *zeros, *blocks,
      block);
  auto y = node.infer<nn::GatherOp>(values, node.input(1), *axis);
  return failed(y) ? failure() : node.replace(*y);
}

//===----------------------------------------------------------------------===//
// QuantizeLinear, DequantizeLinear
//===----------------------------------------------------------------------===//

/// Legalizes the node like ONNX's operator, also in opsets in which ONNX's
/// operator has no 16-bit types.
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
  add("GatherBlockQuantized", legalizeGatherBlocks);
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
