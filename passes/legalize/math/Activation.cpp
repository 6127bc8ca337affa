//===- Activation.cpp - activation functions ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Legalize.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

template <typename Op>
static LogicalResult legalizeUnary(Node &node) {
  return node.replace(node.make<Op>(node.input(0)));
}

static FloatAttr f32(Node &node, StringRef name, float otherwise) {
  return node.builder.getF32FloatAttr(node.getFloat(name, otherwise));
}

static LogicalResult legalizeGelu(Node &node) {
  StringRef approximate = node.getString("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.invalid("approximate is '" + approximate + "'");
  return node.replace(
      node.make<nn::GeluOp>(node.input(0), approximate == "tanh"));
}

static LogicalResult legalizeElu(Node &node) {
  return node.replace(
      node.make<nn::EluOp>(node.input(0), f32(node, "alpha", 1)));
}

static LogicalResult legalizeLeakyRelu(Node &node) {
  return node.replace(
      node.make<nn::LeakyReluOp>(node.input(0), f32(node, "alpha", 0.01f)));
}

static LogicalResult legalizeHardSigmoid(Node &node) {
  return node.replace(node.make<nn::HardSigmoidOp>(
      node.input(0), f32(node, "alpha", 0.2f), f32(node, "beta", 0.5f)));
}

static LogicalResult legalizeSwish(Node &node) {
  return node.replace(
      node.make<nn::SwishOp>(node.input(0), f32(node, "alpha", 1)));
}

/// Computes gamma elu(x).
static LogicalResult legalizeSelu(Node &node) {
  Value elu =
      node.make<nn::EluOp>(node.input(0), f32(node, "alpha", 1.67326324f));
  Value gamma =
      node.scalar(node.elementType(0), node.getFloat("gamma", 1.05070102f));
  return node.replace(node.make<nn::MulOp>(elu, gamma));
}

/// Computes x where x > 0, else alpha (e^(x / alpha) - 1).
static LogicalResult legalizeCelu(Node &node) {
  float alpha = node.getFloat("alpha", 1);
  Value x = node.input(0);
  if (alpha == 0)
    return node.invalid("alpha is 0");
  Value factor = node.scalar(node.elementType(0), alpha);
  Value scaled = alpha == 1 ? x : node.make<nn::DivOp>(x, factor);
  Value elu = node.make<nn::EluOp>(scaled, f32(node, "alpha", 1));
  Value zero = node.scalar(node.elementType(0), 0);
  return node.replace(node.make<nn::SelectOp>(
      node.make<nn::GreaterOp>(x, zero), x, elu));
}

/// Computes x where x > alpha, else 0.
static LogicalResult legalizeThresholdedRelu(Node &node) {
  Value x = node.input(0);
  Value alpha = node.scalar(node.elementType(0), node.getFloat("alpha", 1));
  Value zero = node.scalar(node.elementType(0), 0);
  return node.replace(node.make<nn::SelectOp>(
      node.make<nn::GreaterOp>(x, alpha), x, zero));
}

/// Computes x / (1 + |x|).
static LogicalResult legalizeSoftsign(Node &node) {
  Value x = node.input(0), one = node.scalar(node.elementType(0), 1);
  Value sum = node.make<nn::AddOp>(node.make<nn::AbsOp>(x), one);
  return node.replace(node.make<nn::DivOp>(x, sum));
}

/// Computes x tanh(softplus(x)).
static LogicalResult legalizeMish(Node &node) {
  Value x = node.input(0);
  Value gate = node.make<nn::TanhOp>(node.make<nn::SoftplusOp>(x));
  return node.replace(node.make<nn::MulOp>(x, gate));
}

/// Computes x + bias below -lambd, x - bias above lambd, and 0 between.
static LogicalResult legalizeShrink(Node &node) {
  Value x = node.input(0);
  Type type = node.elementType(0);
  if (type.isUnsignedInteger())
    return node.unsupported("unsigned integers");
  double lambd = node.getFloat("lambd", 0.5), bias = node.getFloat("bias", 0);
  // Compute integers as floats, because ONNX specifies that comparison and
  // shift use floats.
  Type compute = isa<FloatType>(type) ? type : node.builder.getF64Type();
  Value v = node.cast(x, compute), offset = node.scalar(compute, bias);
  Value above = node.make<nn::SelectOp>(
      node.make<nn::GreaterOp>(v, node.scalar(compute, lambd)),
      node.make<nn::SubOp>(v, offset), node.scalar(compute, 0));
  Value result = node.make<nn::SelectOp>(
      node.make<nn::LessOp>(v, node.scalar(compute, -lambd)),
      node.make<nn::AddOp>(v, offset), above);
  return node.replace(node.cast(result, type));
}

/// Legalizes PRelu. The slope must broadcast to the data. Before opset 7, the
/// slope had one element per channel, and converted models still have such
/// slopes. A slope that does not broadcast is therefore taken as one element
/// per channel.
static LogicalResult legalizePRelu(Node &node) {
  Value slope = node.input(1);
  bool isOld = node.statedOpset < 7;
  auto shape = nn::broadcastShapes({node.shape(0), node.shape(1)});
  if ((isOld || !shape) && node.rank(1) == 1 && node.rank(0) > 2 &&
      node.shape(1)[0] != 1 &&
      (isOld || node.shape(1)[0] == node.shape(0)[1])) {
    SmallVector<int64_t> perChannel(node.rank(0) - 1, 1);
    perChannel[0] = node.shape(1)[0];
    slope = node.make<nn::ReshapeOp>(node.type(1).clone(perChannel), slope);
  }
  auto y = node.infer<nn::PReluOp>(node.input(0), slope);
  if (failed(y))
    return failure();
  if (cast<RankedTensorType>(y->getType()).getRank() != node.rank(0))
    return node.invalid("the slope does not broadcast to the data");
  return node.replace(*y);
}

void legalize::populateActivation(Legalizers &legalizers) {
  legalizers.add("Tanh", legalizeUnary<nn::TanhOp>);
  legalizers.add("Sigmoid", legalizeUnary<nn::SigmoidOp>);
  legalizers.add("Relu", legalizeUnary<nn::ReluOp>);
  legalizers.add("Softplus", legalizeUnary<nn::SoftplusOp>);
  legalizers.add("HardSwish", legalizeUnary<nn::HardSwishOp>);
  legalizers.add("Softsign", legalizeSoftsign);
  legalizers.add("Gelu", legalizeGelu);
  legalizers.add("Elu", legalizeElu);
  legalizers.add("Selu", legalizeSelu);
  legalizers.add("Celu", legalizeCelu);
  legalizers.add("LeakyRelu", legalizeLeakyRelu);
  legalizers.add("ThresholdedRelu", legalizeThresholdedRelu);
  legalizers.add("PRelu", legalizePRelu);
  legalizers.add("HardSigmoid", legalizeHardSigmoid);
  legalizers.add("Mish", legalizeMish);
  legalizers.add("Swish", legalizeSwish);
  legalizers.add("Shrink", legalizeShrink);
}
