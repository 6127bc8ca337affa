//===- MicrosoftFused.cpp - fused operators of ONNX Runtime ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes fused operators of ONNX Runtime's own domain. Its optimizer makes
// them from several ONNX operators, and exporters also write them. They are
// split again; later passes fuse the ops for which a kernel exists.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/nn/WindowAttributes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static constexpr StringRef kMicrosoft = "com.microsoft";

//===----------------------------------------------------------------------===//
// Elementwise functions
//===----------------------------------------------------------------------===//

static LogicalResult replaceFloat(Node &node, FailureOr<Value> y) {
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult checkFloats(Node &node, size_t i) {
  if (!node.has(i))
    return node.invalid("input " + Twine(i) + " is missing");
  if (!isa<FloatType>(node.elementType(i)))
    return node.invalid("input " + Twine(i) + " is not of floats");
  return success();
}

static LogicalResult legalizeGelu(Node &node) {
  if (failed(checkFloats(node, 0)))
    return failure();
  return node.replace(node.make<nn::GeluOp>(node.input(0), /*tanh=*/false));
}

/// Adds an optional bias along the last dimension of x.
static FailureOr<Value> addBias(Node &node) {
  if (failed(checkFloats(node, 0)))
    return failure();
  if (!node.has(1))
    return node.input(0);
  if (failed(checkFloats(node, 1)))
    return failure();
  if (node.rank(0) < 1 || node.rank(1) != 1)
    return node.invalid("a bias of rank 1 is needed");
  int64_t last = node.rank(0) - 1;
  if (failed(requireFit(node, nn::SizeRelation::equal,
                        sizeOf(node, node.input(1), 0),
                        sizeOf(node, node.input(0), last),
                        "the bias has {0} elements, but the last dimension of "
                        "the data {1}")))
    return failure();
  return node.infer<nn::AddOp>(node.input(0), node.input(1));
}

template <bool tanh> static LogicalResult legalizeBiasGelu(Node &node) {
  auto x = addBias(node);
  return failed(x) ? failure()
                   : node.replace(node.make<nn::GeluOp>(*x, tanh));
}

static LogicalResult legalizeQuickGelu(Node &node) {
  if (failed(checkFloats(node, 0)))
    return failure();
  return node.replace(node.make<nn::SwishOp>(
      node.input(0), llvm::APFloat(node.getFloat("alpha", 1.702f))));
}

/// Multiplies the first half of the last dimension by the gelu of the second
/// half.
static LogicalResult legalizeBiasSplitGelu(Node &node) {
  auto x = addBias(node);
  if (failed(x))
    return failure();
  int64_t last = typeOf(*x).getRank() - 1, width = typeOf(*x).getDimSize(last);
  if (ShapedType::isDynamic(width) || width % 2 != 0)
    return node.invalid("the last dimension needs a known, even size");
  Value left = sliceAxis(node, *x, last, 0, width / 2),
        right = sliceAxis(node, *x, last, width / 2, width / 2);
  return replaceFloat(
      node, node.infer<nn::MulOp>(
                left, node.make<nn::GeluOp>(right, /*tanh=*/false)));
}

/// Applies the function of an `activation` attribute to `x`. Missing parameters
/// have ONNX's defaults.
static FailureOr<Value> activate(Node &node, Value x, StringRef name,
                                 ArrayRef<float> params) {
  auto param = [&](size_t i, float otherwise) {
    return node.builder.getF32FloatAttr(i < params.size() ? params[i]
                                                          : otherwise);
  };
  if (name.empty())
    return x;
  if (name == "Relu")
    return node.make<nn::ReluOp>(x);
  if (name == "Tanh")
    return node.make<nn::TanhOp>(x);
  if (name == "Sigmoid")
    return node.make<nn::SigmoidOp>(x);
  if (name == "Softplus")
    return node.make<nn::SoftplusOp>(x);
  if (name == "LeakyRelu")
    return node.make<nn::LeakyReluOp>(x, param(0, 0.01f));
  if (name == "Elu")
    return node.make<nn::EluOp>(x, param(0, 1));
  if (name == "HardSigmoid")
    return node.make<nn::HardSigmoidOp>(x, param(0, 0.2f), param(1, 0.5f));
  if (name == "HardSwish")
    return node.make<nn::HardSwishOp>(x);
  if (name == "Clip" && params.size() == 2)
    return node.make<nn::ClampOp>(
        x, node.builder.getF64FloatAttr(params[0]),
        node.builder.getF64FloatAttr(params[1]));
  return node.unsupported("activation '" + name + "' with " +
                          Twine(params.size()) + " parameters");
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns the permutation that moves channels to the last dimension, or back
/// to the second.
static SmallVector<int64_t> channelsTo(int64_t rank, bool last) {
  SmallVector<int64_t> perm = {0};
  if (!last)
    perm.push_back(rank - 1);
  for (int64_t d = last ? 2 : 1; d < (last ? rank : rank - 1); ++d)
    perm.push_back(d);
  if (last)
    perm.push_back(1);
  return perm;
}

/// Legalizes a convolution, an optional sum with Z of the result's shape, and
/// an activation.
template <bool isLast> static LogicalResult legalizeFusedConv(Node &node) {
  if (failed(checkFloats(node, 0)) || failed(checkFloats(node, 1)))
    return failure();
  int64_t rank = node.rank(0);
  if (rank < 3)
    return node.invalid("data needs rank 3 or more, but has rank " +
                        Twine(rank));
  auto moved = [&](Value x, bool toLast) {
    return isLast ? transpose(node, x, channelsTo(rank, toLast)) : x;
  };
  auto y = convolve(node, moved(node.input(0), /*toLast=*/false),
                    node.input(1), node.input(2));
  if (failed(y))
    return failure();
  if (node.has(3)) {
    if (node.rank(3) != rank)
      return node.invalid("Z does not have the rank of the result");
    Value z = moved(node.input(3), /*toLast=*/false);
    for (int64_t d = 0; d < rank; ++d)
      if (failed(requireFit(node, nn::SizeRelation::equal, sizeOf(node, z, d),
                            sizeOf(node, *y, d),
                            "dimension " + Twine(d) +
                                " of Z is {0}, but that of the result {1}")))
        return failure();
    y = node.infer<nn::AddOp>(*y, z);
    if (failed(y))
      return failure();
  }
  y = activate(node, *y, node.getString("activation", ""),
               node.getFloats("activation_params")
                   .value_or(SmallVector<float>()));
  return failed(y) ? failure()
                   : node.replace(moved(*y, /*toLast=*/true));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Moves the first dimension of a factor behind its batch dimensions if
/// `isBatch`.
static Value batchesFirst(Node &node, Value x, bool isBatch) {
  int64_t rank = typeOf(x).getRank();
  if (!isBatch || rank < 3)
    return x;
  SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
  perm.append({0, rank - 1});
  return transpose(node, x, perm);
}

static LogicalResult legalizeFusedMatMul(Node &node) {
  if (failed(checkFloats(node, 0)) || failed(checkFloats(node, 1)))
    return failure();
  Value a = node.input(0), b = node.input(1);
  bool isRow = node.rank(0) == 1, isColumn = node.rank(1) == 1;
  if (node.rank(0) < 1 || node.rank(1) < 1)
    return node.invalid("two operands of rank 1 or more are needed");
  // Never transposes a vector.
  bool transA = node.getInt("transA", 0) && !isRow,
       transB = node.getInt("transB", 0) && !isColumn;
  a = isRow ? unsqueeze(node, a, {0})
            : batchesFirst(node, a, node.getInt("transBatchA", 0));
  b = isColumn ? unsqueeze(node, b, {1})
               : batchesFirst(node, b, node.getInt("transBatchB", 0));
  float alpha = node.getFloat("alpha", 1);
  Value factor = scalar(node, node.elementType(0), alpha);
  if (alpha != 1 && nn::getConstant(b)) {
    b = binary<nn::MulOp>(node, b, factor);
    alpha = 1;
  }
  auto y = node.infer<nn::MatMulOp>(a, b, Value(), transA, transB);
  if (succeeded(y) && alpha != 1)
    y = node.infer<nn::MulOp>(*y, factor);
  if (failed(y))
    return failure();
  Sizes sizes = sizesOf(node, *y);
  if (isColumn)
    sizes.pop_back();
  if (isRow)
    sizes.erase(sizes.end() - (isColumn ? 1 : 2));
  return node.replace(isRow || isColumn ? reshape(node, *y, sizes) : *y);
}

static LogicalResult legalizeFusedGemm(Node &node) {
  if (failed(checkFloats(node, 0)) || failed(checkFloats(node, 1)))
    return failure();
  if (node.rank(0) != 2 || node.rank(1) != 2)
    return node.invalid("A and B of rank 2 are needed");
  Type type = node.elementType(0);
  Value b = node.input(1);
  float alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  if (alpha != 1)
    b = binary<nn::MulOp>(node, b, scalar(node, type, alpha));
  Value c = beta == 0 ? Value() : node.input(2);
  if (c && beta != 1)
    c = binary<nn::MulOp>(node, c, scalar(node, type, beta));
  auto y = node.infer<nn::MatMulOp>(node.input(0), b, c,
                                    node.getInt("transA", 0) != 0,
                                    node.getInt("transB", 0) != 0);
  if (failed(y))
    return failure();
  SmallVector<float> params;
  for (StringRef name :
       {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.hasAttr(name))
      params.push_back(node.getFloat(name, 0));
  return replaceFloat(
      node, activate(node, *y, node.getString("activation", ""), params));
}

void legalize::populateMicrosoftFused(Legalizers &legalizers) {
  auto add = [&](StringRef name, Legalizer legalizer) {
    legalizers.add(name, legalizer, kMicrosoft);
  };
  add("BiasGelu", legalizeBiasGelu<false>);
  add("BiasSplitGelu", legalizeBiasSplitGelu);
  add("FastGelu", legalizeBiasGelu<true>);
  add("FusedConv", legalizeFusedConv<false>);
  add("FusedGemm", legalizeFusedGemm);
  add("FusedMatMul", legalizeFusedMatMul);
  add("Gelu", legalizeGelu);
  add("NhwcConv", legalizeFusedConv<true>);
  add("NhwcFusedConv", legalizeFusedConv<true>);
  add("QuickGelu", legalizeQuickGelu);
  add("TransposeMatMul", legalizeFusedMatMul);
}
