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
#include "dialects/nn/Scalars.h"
#include "passes/support/Convolutions.h"
#include "passes/support/KernelReasons.h"
#include "passes/support/ResampleTables.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using support::typeOf;

Reason cuda::whyNotCounted(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    // The run checks the elements of open sizes.
    if (type && type.hasStaticShape() && type.getNumElements() > kMaxElements)
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
  if (support::hasSingleChannels(op) && taps > DepthwiseConvOp::kMaxTaps)
    return "has " + std::to_string(taps) + " taps for each channel";
  if (!nn::getConstant(op.getW()))
    return "has weights that are not constant";
  return support::whyNotWindowed(type, op.getPads());
}

static Reason whyNot(nn::MatMulOp op) {
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
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
  ArrayRef<int64_t> columns = type.getShape().drop_front(axis + 1);
  if (support::productOf(columns) == 1)
    return whyNotRows(type, axis);
  // The leading dimensions of columns may be open.
  if (ShapedType::isDynamicShape(type.getShape().drop_front(axis)))
    return "has columns of open size: " + describe(type);
  return std::nullopt;
}

/// The fewest elements of a result for which a reduction is a kernel. A loop
/// of few steps takes the ops before the reduction, too.
static constexpr int64_t kReducedElements = 8;

static Reason whyNot(nn::ReduceOp op) {
  RankedTensorType type = typeOf(op.getX());
  ArrayRef<int64_t> axes = op.getAxes();
  if (axes.empty())
    return "reduces nothing";
  if (axes.back() - axes.front() + 1 != int64_t(axes.size()))
    return "reduces dimensions that are not neighbors";
  const auto first = size_t(axes.front());
  ArrayRef<int64_t> columns = type.getShape().drop_front(first + axes.size());
  if (ShapedType::isDynamicShape(columns))
    return "has columns whose number is open: " + describe(type);
  // cuda-outline-rows makes kernels of them, with the ops before them.
  if (support::productOf(columns) == 1)
    return "reduces contiguous elements";
  const int64_t length =
      support::productOf(type.getShape().slice(first, axes.size()));
  if (!ShapedType::isDynamic(length) && length < kReducedElements)
    return "reduces " + std::to_string(length) + " elements for each result";
  return std::nullopt;
}

static Reason whyNot(nn::ResizeOp op) {
  if (op.getAntialias())
    return "filters the dimensions that shrink";
  return support::whyNotResampled(op);
}

static Reason whyNot(nn::AvgPoolOp op) { return support::whyNotPool(op); }
static Reason whyNot(nn::MaxPoolOp op) { return support::whyNotPool(op); }

template <typename Op>
static Reason whyNotRowNorm(Op op) {
  RankedTensorType type = typeOf(op.getY());
  const auto axis = size_t(op.getAxis());
  if (axis < size_t(type.getRank()))
    if (Reason reason = whyNotRows(type, axis))
      return reason;
  return support::whyNotRowNorm(op);
}

static Reason whyNot(nn::LayerNormOp op) { return whyNotRowNorm(op); }
static Reason whyNot(nn::RMSNormOp op) { return whyNotRowNorm(op); }

static Reason whyNot(nn::GroupNormOp op) {
  RankedTensorType type = typeOf(op.getY());
  if (!op.getChannelsLast() || type.getRank() < 3)
    return kChannelsNotLast;
  if (!type.hasStaticShape())
    return "has open sizes: " + describe(type);
  const int64_t channels = type.getShape().back();
  if (channels % int64_t(op.getGroups()) != 0)
    return "has channels that its groups do not divide: " + describe(type);
  return whyNotFactors({channels}, {op.getScale(), op.getBias()});
}

/// Returns why kernels do not compute with elements of the type: it is stored
/// as bits.
static Reason whyNotElements(RankedTensorType type) {
  if (nn::isCoded(type.getElementType()) ||
      !type.getElementType().isIntOrFloat())
    return "computes " + describe(type) +
           ", where kernels compute integers and floats of 16 bits or more";
  return std::nullopt;
}

static Reason whyNot(nn::TopKOp op) {
  RankedTensorType type = typeOf(op.getX());
  const int64_t k = int64_t(op.getK());
  if (Reason reason = whyNotElements(type))
    return reason;
  if (k > TopKOp::kMaxK)
    return "has " + std::to_string(k) + " results, where a block keeps " +
           std::to_string(TopKOp::kMaxK);
  return std::nullopt;
}

/// The fewest elements of a row that a block sorts to find the first, and the
/// most rows. A thread compares the elements of other rows.
static constexpr int64_t kSortedRow = 1024, kSortedRows = 1024;

static Reason whyNot(nn::ArgReduceOp op) {
  RankedTensorType type = typeOf(op.getX());
  const auto axis = size_t(op.getAxis());
  if (Reason reason = whyNotElements(type))
    return reason;
  if (op.getSelectLastIndex())
    return "takes the last one of equal elements";
  if (support::productOf(type.getShape().drop_front(axis + 1)) != 1)
    return "compares elements that are not neighbors";
  const int64_t length = type.getShape()[axis],
                rows = support::productOf(type.getShape().take_front(axis));
  if (ShapedType::isDynamic(length) || length < kSortedRow)
    return "has rows of less than " + std::to_string(kSortedRow) +
           " elements, or of open length: " + describe(type);
  if (!ShapedType::isDynamic(rows) && rows > kSortedRows)
    return "has more than " + std::to_string(kSortedRows) +
           " rows: " + describe(type);
  return std::nullopt;
}

static Reason whyNot(nn::CumSumOp op) {
  return whyNotElements(op.getX().getType());
}
static Reason whyNot(nn::ScatterElementsOp op) {
  return whyNotElements(op.getX().getType());
}
static Reason whyNot(nn::ScatterNDOp op) {
  return whyNotElements(op.getX().getType());
}

/// Returns true if the kernel of `op` takes more types than f32.
static bool takesOtherTypes(Operation *op) {
  return isa<nn::ArgReduceOp, nn::CumSumOp, nn::ScatterElementsOp,
             nn::ScatterNDOp, nn::TopKOp>(op);
}

using Kinds =
    OpKinds<nn::ArgReduceOp, nn::AvgPoolOp, nn::ConvOp, nn::CumSumOp,
            nn::GroupNormOp, nn::LayerNormOp, nn::MatMulOp, nn::MaxPoolOp,
            nn::ReduceOp, nn::ResizeOp, nn::RMSNormOp, nn::ScatterElementsOp,
            nn::ScatterNDOp, nn::SoftmaxOp, nn::TopKOp>;

bool cuda::isCudaKind(Operation *op) { return Kinds::contain(op); }

Reason cuda::whyNotCudaKernel(Operation *op) {
  if (Reason reason = takesOtherTypes(op) ? whyNotEmpty(op) : whyNotFloat32(op))
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
