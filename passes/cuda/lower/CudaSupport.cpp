//===- CudaSupport.cpp - ops that kernels of GPUs support -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/lower/CudaSupport.h"

#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using support::typeOf;

Reason cuda::whyNotCounted(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Value value : values) {
    RankedTensorType type = typeOf(value);
    // The run checks the elements of open sizes.
    if (type.hasStaticShape() && type.getNumElements() > kMaxElements)
      return "has more than 2^30 elements: " + describe(type);
  }
  return std::nullopt;
}

static Reason whyNot(nn::ConvOp op) {
  RankedTensorType type = typeOf(op.getY());
  if (type.isDynamicDim(unsigned(type.getRank() - 1)) ||
      typeOf(op.getX()).isDynamicDim(unsigned(type.getRank() - 1)))
    return "has channels whose number is open";
  if (!op.getChannelsLast())
    return kChannelsNotLast;
  const int64_t taps =
      support::productOf(typeOf(op.getW()).getShape().drop_front(2));
  if (support::isDepthwise(op)) {
    if (taps > DepthwiseConvOp::kMaxTaps)
      return "has " + std::to_string(taps) + " taps for each channel";
  } else if (support::hasSingleChannels(op)) {
    return "has several results for each channel";
  }
  if (!nn::getConstant(op.getW()))
    return "has weights that are not constant";
  if (type.getRank() < 3 || type.getRank() > 5)
    return "has data of rank " + std::to_string(type.getRank()) +
           ", where kernels have one to three spatial dimensions";
  if (llvm::any_of(op.getPads(), [](int64_t pad) { return pad < 0; }))
    return "crops its input by negative pads";
  return std::nullopt;
}

static Reason whyNot(nn::MatMulOp op) {
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  auto isOpen = [](int64_t size) { return ShapedType::isDynamic(size); };
  // Tiles of weights, and the depth, are known.
  if (llvm::any_of(b.getShape(), isOpen))
    return "has a right factor of open size, " + describe(b);
  if (isOpen(
          a.getDimSize(unsigned(a.getRank()) - (op.getTransposeA() ? 2 : 1))))
    return "has a depth that is open: " + describe(a);
  const int64_t rank = typeOf(op.getY()).getRank();
  if (rank < 2 || a.getRank() != rank)
    return "broadcasts its left factor, " + describe(a);
  if (b.getRank() != 2 &&
      (b.getRank() != rank ||
       a.getShape().drop_back(2) != b.getShape().drop_back(2)))
    return "broadcasts " + describe(b) + " to the batches of " + describe(a);
  if (a.getShape().drop_back(2) != typeOf(op.getY()).getShape().drop_back(2))
    return "broadcasts " + describe(a) + " to " + describe(op.getY().getType());
  return std::nullopt;
}

/// Returns why there is no kernel for rows of the dimensions from `axis` on.
/// The number of rows may be open, but not their length, and open dimensions
/// cannot be reshaped.
static Reason whyNotRows(RankedTensorType type, size_t axis) {
  const bool isLast = axis + 1 == size_t(type.getRank());
  ArrayRef<int64_t> known = type.getShape();
  if (ShapedType::isDynamicShape(isLast ? known.take_back() : known))
    return "has rows of open length: " + describe(type);
  return std::nullopt;
}

static Reason whyNot(nn::SoftmaxOp op) {
  RankedTensorType type = typeOf(op.getY());
  if (type.getRank() == 0)
    return "is of a number";
  const auto axis = size_t(op.getAxis());
  if (Reason reason = whyNotRows(type, axis))
    return reason;
  if (support::productOf(type.getShape().drop_front(axis + 1)) != 1)
    return "is not along the last dimension";
  return std::nullopt;
}

template <typename Op>
static Reason whyNotRowNorm(Op op, Value bias) {
  RankedTensorType type = typeOf(op.getY());
  const auto axis = size_t(op.getAxis());
  if (axis >= size_t(type.getRank()))
    return "normalizes no dimension";
  if (Reason reason = whyNotRows(type, axis))
    return reason;
  return whyNotFactors(type.getShape().drop_front(axis), {op.getScale(), bias});
}

static Reason whyNot(nn::LayerNormOp op) {
  return whyNotRowNorm(op, op.getBias());
}
static Reason whyNot(nn::RMSNormOp op) { return whyNotRowNorm(op, Value()); }

static Reason whyNot(nn::GroupNormOp op) {
  RankedTensorType type = typeOf(op.getY());
  if (!op.getChannelsLast() || type.getRank() < 3)
    return kChannelsNotLast;
  if (!type.hasStaticShape())
    return "has open sizes: " + describe(type);
  const int64_t channels = type.getShape().back();
  if (channels % int64_t(op.getGroups()) != 0)
    return "has channels that its groups do not divide: " + describe(type);
  // Threads of one group would read elements that are far apart.
  if (channels == int64_t(op.getGroups()))
    return "has groups of one channel";
  return whyNotFactors({channels}, {op.getScale(), op.getBias()});
}

using Kinds = OpKinds<nn::ConvOp, nn::GroupNormOp, nn::LayerNormOp,
                      nn::MatMulOp, nn::RMSNormOp, nn::SoftmaxOp>;

bool cuda::isCudaKind(Operation *op) { return Kinds::contain(op); }

Reason cuda::whyNotCudaKernel(Operation *op) {
  if (Reason reason = whyNotFloat32(op))
    return reason;
  if (Reason reason = whyNotCounted(op))
    return reason;
  return Kinds::ask(op, [](auto op) { return whyNot(op); });
}

Reason cuda::whyNotToCuda(Operation *op) {
  if (Reason reason = whyNotBackend(op, kBackend))
    return reason;
  return whyNotCudaKernel(op);
}
