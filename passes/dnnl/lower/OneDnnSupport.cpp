//===- OneDnnSupport.cpp - what oneDNN computes ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/dnnl/lower/OneDnnSupport.h"

#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::dnnl;
using namespace ingot::support;
using support::typeOf;

template <typename Op> static Reason whyNotConv(Op op) {
  RankedTensorType weights = typeOf(op.getW()), type = typeOf(op.getY());
  if (!op.getChannelsLast())
    return kChannelsNotLast;
  if (!weights.hasStaticShape() || type.isDynamicDim(type.getRank() - 1))
    return "has weights of open size: " + describe(weights);
  return std::nullopt;
}

static Reason whyNot(nn::ConvOp op) {
  if (Reason reason = whyNotConv(op))
    return reason;
  if (llvm::any_of(op.getPads(), [](int64_t pad) { return pad < 0; }))
    return "crops its input by negative pads";
  return std::nullopt;
}

static Reason whyNot(nn::ConvTransposeOp op) {
  if (Reason reason = whyNotConv(op))
    return reason;
  size_t n = op.getStrides().size();
  for (size_t d = 0; d < n; ++d)
    if (op.getPads()[d] < 0 ||
        op.getPads()[n + d] - op.getOutputPadding()[d] + op.getStrides()[d] <=
            0)
      return "has pads that oneDNN cannot state";
  return std::nullopt;
}

static Reason whyNot(nn::MatMulOp op) {
  // Decline a dynamic size beside n > 1, which may be 1 or n. It is not known
  // at compile time whether such an operand broadcasts.
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  for (int64_t i = 3; i <= std::min(a.getRank(), b.getRank()); ++i) {
    int64_t sizeA = a.getDimSize(a.getRank() - i);
    int64_t sizeB = b.getDimSize(b.getRank() - i);
    if (ShapedType::isDynamic(sizeA) != ShapedType::isDynamic(sizeB) &&
        sizeA != 1 && sizeB != 1)
      return "may or may not broadcast " + describe(a) + " and " + describe(b);
  }
  return std::nullopt;
}

/// oneDNN requires windows that overlap the input, and pads that are not
/// negative.
template <typename Op> static Reason whyNotPool(Op op) {
  if (!op.getChannelsLast())
    return kChannelsNotLast;
  ArrayRef<int64_t> kernel = op.getKernel(), pads = op.getPads();
  for (size_t i = 0, n = kernel.size(); i < n; ++i) {
    int64_t extent = (kernel[i] - 1) * op.getDilations()[i] + 1;
    if (pads[i] < 0 || pads[n + i] < 0 || pads[i] >= extent ||
        pads[n + i] >= extent)
      return "has windows that lie in the padding alone, or negative pads";
  }
  return std::nullopt;
}

static Reason whyNot(nn::MaxPoolOp op) { return whyNotPool(op); }
static Reason whyNot(nn::AvgPoolOp op) { return whyNotPool(op); }

static Reason whyNot(nn::SoftmaxOp op) {
  if (op.getX().getType() != op.getY().getType())
    return kTypesDiffer;
  return std::nullopt;
}

static Reason whyNot(nn::LayerNormOp op) {
  RankedTensorType type = typeOf(op.getX());
  int64_t axis = op.getAxis();
  ArrayRef<int64_t> inner = type.getShape().drop_front(axis);
  if (type != op.getY().getType())
    return kTypesDiffer;
  if (axis < 1 || ShapedType::isDynamicShape(inner))
    return "normalizes all dimensions, or open ones: " + describe(type);
  return whyNotFactors(inner, {op.getScale(), op.getBias()});
}

using Kinds = OpKinds<nn::AvgPoolOp, nn::ConvOp, nn::ConvTransposeOp,
                      nn::LayerNormOp, nn::MatMulOp, nn::MaxPoolOp,
                      nn::SoftmaxOp>;

bool dnnl::isOneDnnKind(Operation *op) { return Kinds::contain(op); }

Reason dnnl::whyNotOneDnn(Operation *op) {
  if (Reason reason = whyNotFloat32(op))
    return reason;
  return Kinds::ask(op, [](auto op) { return whyNot(op); });
}

Reason dnnl::whyNotToDnnl(Operation *op) {
  if (Reason reason = whyNotBackend(op, dnnl::kBackend))
    return reason;
  return whyNotOneDnn(op);
}
