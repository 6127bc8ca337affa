//===- CpuSupport.cpp - ops that native kernels support -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/CpuSupport.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/cpu/lower/BandMatMulToCpu.h"
#include "passes/cpu/policy/Int8Products.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Convolutions.h"
#include "passes/support/ExactSums.h"
#include "passes/support/KernelReasons.h"
#include "passes/support/PackedRange.h"
#include "passes/support/ResampleTables.h"
#include "passes/support/StridePhases.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;
using support::typeOf;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Says why weights cannot be packed. Weights that the model computes are
/// packed at run time.
static Reason whyNotPacked(Value weights) {
  RankedTensorType type = typeOf(weights);
  if (nn::getConstant(weights))
    return std::nullopt;
  if (!type.getElementType().isF32())
    return "has weights of bytes that are not constant";
  if (!type.hasStaticShape())
    return "has weights of open size: " + describe(type);
  return std::nullopt;
}

template <typename Op>
static Reason whyNotConv(Op op) {
  if (!op.getChannelsLast())
    return kChannelsNotLast;
  if (Reason reason = whyNotPacked(op.getW()))
    return reason;
  for (Value data : {op.getX(), op.getY()})
    if (ShapedType::isDynamic(typeOf(data).getShape().back()))
      return "has an open number of channels: " + describe(data.getType());
  return std::nullopt;
}

static Reason whyNot(nn::ConvOp op) {
  if (Reason reason = whyNotConv(op))
    return reason;
  if (nn::isByte(typeOf(op.getX()).getElementType()) && hasSingleChannels(op)) {
    auto weights = nn::getConstantDoubles(op.getW());
    if (!weights ||
        !support::areSumsExact(*weights, typeOf(op.getW()).getDimSize(0)))
      return "has sums of bytes beyond 2^24";
  }
  return support::whyNotWindowed(typeOf(op.getY()), op.getPads());
}

/// Returns true if all phases of the last dimension read the same pixels, so
/// that they become one convolution.
static bool mergesLast(nn::ConvTransposeOp op) {
  size_t last = op.getStrides().size() - 1;
  return op.getGroups() == 1 && op.getDilations()[last] == 1 &&
         op.getPads()[last] == 0 && op.getPads().back() == 0 &&
         op.getOutputPadding()[last] == 0 &&
         typeOf(op.getW()).getShape().back() % op.getStrides()[last] == 0;
}

static Reason whyNot(nn::ConvTransposeOp op) {
  if (Reason reason = whyNotConv(op))
    return reason;
  // Passes no pads, because the pads of a transposed convolution are not
  // padding. They crop the result.
  if (Reason reason = support::whyNotWindowed(typeOf(op.getY()), /*pads=*/{}))
    return reason;
  ArrayRef<int64_t> strides = op.getStrides();
  if (mergesLast(op))
    strides = strides.drop_back();
  if (support::hasManyStridePhases(strides))
    return "has strides of more than " +
           std::to_string(support::kMaxStridePhases) + " phases";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns true if a large right factor is packed at run time for this product
/// alone. Packing before a loop does not count, because it serves every step.
static bool isPackedForOne(nn::MatMulOp op) {
  Value b = op.getB();
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  return !nn::getConstant(b) && !isBF16(op) &&
         typeOf(b).getNumElements() >= threshold::packedInRunElements &&
         !(loop && loop.isDefinedOutsideOfLoop(b));
}

/// Returns true if the right factor is computed at run time and its columns are
/// long.
static bool isLongColumn(nn::MatMulOp op) {
  RankedTensorType b = typeOf(op.getB());
  int64_t depth = b.getDimSize(b.getRank() - (op.getTransposeB() ? 1 : 2));
  return !nn::getConstant(op.getB()) && !isBF16(op) &&
         depth >= threshold::longColumn && b.getElementType().isF32();
}

static Reason whyNot(nn::MatMulOp op) {
  if (cpu::isBandMatMul(op))
    return std::nullopt;
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  RankedTensorType type = typeOf(op.getY());
  int64_t rank = a.getRank();
  // Uses the shape after transposing back, because a transposed left factor is
  // transposed back first.
  if (rank >= 2 && op.getTransposeA()) {
    SmallVector<int64_t> shape(a.getShape());
    std::swap(shape[rank - 2], shape[rank - 1]);
    a = RankedTensorType::get(shape, a.getElementType());
  }
  if (rank < 2 || type.getRank() != rank)
    return "broadcasts its left factor, " + describe(a);
  if (ShapedType::isDynamic(a.getShape().back()))
    return "has rows of open length: " + describe(a);
  if (!b.hasStaticShape())
    return "has a right factor of open size: " + describe(b);
  int64_t rows = a.getDimSize(rank - 2);
  int64_t few = nn::isByte(b.getElementType()) ? threshold::packedInRunByteRows
                                               : threshold::packedInRunRows;
  if (!ShapedType::isDynamic(rows) && rows < few && isPackedForOne(op))
    return "has " + std::to_string(rows) +
           " rows for a right factor that a run would have to pack";
  int64_t columns = type.getShape().back();
  if (columns < threshold::panelFewestColumns && isLongColumn(op))
    return "has " + std::to_string(columns) + " columns of a panel";
  // Requires that all batches share one right factor, or that each batch has
  // its own.
  if (b.getRank() != 2 &&
      (b.getRank() != rank ||
       a.getShape().drop_back(2) != b.getShape().drop_back(2)))
    return "broadcasts " + describe(b) + " to the batches of " + describe(a);
  if (a.getShape().drop_back(1) != type.getShape().drop_back(1))
    return "broadcasts " + describe(a) + " to " + describe(type);
  return std::nullopt;
}

static Reason whyNot(nn::ByteAttentionOp op) {
  const Answer<bool> answer = cpu::isForByteAttention(
      typeOf(op.getQ()), typeOf(op.getK()), typeOf(op.getV()));
  return answer.choice ? Reason() : Reason(answer.reason);
}

static Reason whyNot(nn::PackedMatMulOp op) {
  for (Value weights : {op.getCodes(), op.getScales(), op.getZeroPoints()})
    if (weights && !nn::getConstant(weights))
      return "has weights that are not constant";
  if (!support::fitPackedScales(*nn::getConstantDoubles(op.getScales())))
    return "has scales with which packed products leave the range of float32";
  // Accepts any block size if a row has only one block.
  if (op.getDepth() > op.getBlockSize() &&
      int64_t(op.getBlockSize()) % (32 / int64_t(op.getBits())) != 0)
    return "has blocks of " + std::to_string(op.getBlockSize()) +
           " elements, which do not fill words of 32 bits";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rows and windows
//===----------------------------------------------------------------------===//

static Reason whyNot(nn::ReduceOp op) {
  ArrayRef<int64_t> axes = op.getAxes();
  if (axes.empty())
    return "reduces nothing";
  return std::nullopt;
}

static Reason whyNot(nn::ResizeOp op) {
  SmallVector<int64_t> resized = support::resizedDims(op);
  if (resized.empty())
    return "resizes nothing";
  // Accepts an antialiased resize of any dimensions, because it is computed one
  // dimension after the other.
  if (op.getAntialias())
    return std::nullopt;
  if (Reason reason = support::whyNotResampled(op))
    return reason;
  // Declines if loops are faster. For each result pixel, the kernel reads the
  // taps of all dimensions. Loops of known sizes resample one dimension after
  // the other, which is faster with many channels. With few channels the kernel
  // also takes the dimensions in sequence.
  RankedTensorType x = typeOf(op.getX()), y = typeOf(op.getY());
  const int64_t end = resized.back() + 1;
  if (support::numAllTaps(op) > 2 && end < x.getRank() && x.hasStaticShape() &&
      y.hasStaticShape() &&
      support::productOf(x.getShape().drop_front(end)) >=
          threshold::resizedChannels &&
      y.getNumElements() >= threshold::resizedGrowth * x.getNumElements())
    return "has many pixels for each of its input's";
  return std::nullopt;
}

static Reason whyNot(nn::SoftmaxOp op) {
  RankedTensorType type = typeOf(op.getY());
  if (type.getRank() == 0)
    return "is of a number";
  if (typeOf(op.getX()) != type)
    return kTypesDiffer;
  return std::nullopt;
}

template <typename Op>
static Reason whyNotRowNorm(Op op) {
  if (op.getX().getType() != op.getY().getType())
    return kTypesDiffer;
  return support::whyNotRowNorm(op);
}

static Reason whyNot(nn::LayerNormOp op) { return whyNotRowNorm(op); }
static Reason whyNot(nn::RMSNormOp op) { return whyNotRowNorm(op); }

/// The maximum number of channels for which the kernel keeps a block on the
/// stack.
static constexpr int64_t kMaxGroupNormChannels = 16384;

static Reason whyNot(nn::GroupNormOp op) {
  RankedTensorType type = typeOf(op.getY());
  int64_t channels = type.getRank() ? type.getShape().back() : 0;
  if (!op.getChannelsLast() || type.getRank() < 3)
    return kChannelsNotLast;
  if (typeOf(op.getX()) != type)
    return kTypesDiffer;
  if (ShapedType::isDynamic(channels) || channels > kMaxGroupNormChannels ||
      channels % int64_t(op.getGroups()) != 0)
    return "has a number of channels that is open, above " +
           std::to_string(kMaxGroupNormChannels) +
           " or no multiple of its groups: " + describe(type);
  for (Value factor : {op.getScale(), op.getBias()})
    if (typeOf(factor).getShape() != ArrayRef<int64_t>(channels))
      return "has a factor that does not have one element per channel: " +
             describe(factor.getType());
  return std::nullopt;
}

static Reason whyNot(nn::MaxPoolOp op) { return support::whyNotPool(op); }
static Reason whyNot(nn::AvgPoolOp op) { return support::whyNotPool(op); }

//===----------------------------------------------------------------------===//
// All operations
//===----------------------------------------------------------------------===//

using Kinds = OpKinds<nn::AvgPoolOp, nn::ByteAttentionOp, nn::ConvOp,
                      nn::ConvTransposeOp, nn::GroupNormOp, nn::LayerNormOp,
                      nn::MatMulOp, nn::MaxPoolOp, nn::PackedMatMulOp,
                      nn::ReduceOp, nn::ResizeOp, nn::RMSNormOp, nn::SoftmaxOp>;

bool cpu::isCpuKind(Operation *op) { return Kinds::contain(op); }

/// Says why a product of int16 has no kernel. Kernels need constant weights in
/// panels.
static Reason whyNotInt16(Operation *op) {
  RankedTensorType w = typeOf(op->getOperand(1));
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (isa<nn::ConvTransposeOp>(op) || (conv && hasSingleChannels(conv)))
    return "is a convolution of words that has no panels of weights";
  if (!w.getElementType().isSignlessInteger(16) ||
      !nn::getConstant(op->getOperand(1)))
    return "multiplies words by " + describe(w) +
           ", where kernels multiply them by constant words";
  return whyNotEmpty(op);
}

/// Returns true if kernels resize the bytes. They do so along rows, and for
/// pixels of few channels.
static bool resizesBytes(Operation *op) {
  auto resize = dyn_cast<nn::ResizeOp>(op);
  if (!resize || resize.getMode() == nn::ResizeMode::cubic)
    return false;
  RankedTensorType type = typeOf(resize.getX());
  if (!type.getElementType().isUnsignedInteger(8))
    return false;
  int64_t rank = type.getRank();
  if (rank > 0 && !support::isCopiedDim(resize, rank - 1))
    return true;
  return rank > 1 && ShapedType::isStatic(type.getShape().back()) &&
         !support::isCopiedDim(resize, rank - 2) &&
         type.getShape().back() < threshold::resizedChannels;
}

/// Says why no kernel takes the element types. Kernels take f32, products of
/// bytes and int16, and maxima and resizes of bytes.
static Reason whyNotElements(Operation *op) {
  if (isa<nn::MaxPoolOp>(op) &&
      typeOf(op->getOperand(0)).getElementType().isUnsignedInteger(8))
    return whyNotEmpty(op);
  if (isa<nn::ByteAttentionOp, nn::PackedMatMulOp>(op) || resizesBytes(op))
    return whyNotEmpty(op);
  if (!isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op) ||
      !nn::isInt8OrInt16(typeOf(op->getOperand(0)).getElementType()))
    return whyNotFloat32(op);
  RankedTensorType x = typeOf(op->getOperand(0)), w = typeOf(op->getOperand(1));
  if (op->getNumOperands() != 2)
    return "adds a bias to sums of integers";
  if (x.getElementType().isSignlessInteger(16))
    return whyNotInt16(op);
  if (!x.getElementType().isUnsignedInteger() ||
      !w.getElementType().isSignlessInteger(8))
    return "multiplies " + describe(x) + " by " + describe(w) +
           ", where kernels multiply ui8 by i8";
  auto transposed = dyn_cast<nn::ConvTransposeOp>(op);
  if (transposed && transposed.getGroups() != 1 &&
      int64_t(transposed.getGroups()) == w.getDimSize(0))
    return "has groups of one channel of bytes";
  return whyNotEmpty(op);
}

Reason cpu::whyNotCpuKernel(Operation *op) {
  if (Reason reason = whyNotElements(op))
    return reason;
  return Kinds::ask(op, [](auto op) { return whyNot(op); });
}

Reason cpu::whyNotToCpu(Operation *op) {
  if (Reason reason = whyNotBackend(op, cpu::kBackend))
    return reason;
  return whyNotCpuKernel(op);
}
