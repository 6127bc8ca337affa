//===- CpuReductions.cpp - verifiers of reductions, norms, pooling --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Signs.h"
#include "dialects/kernel/ResampleVerify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;

void BandMatMulOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void GroupNormOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void PackSignsOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void PoolOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void ReduceOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void ResampleOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void RoundBlocksOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void RowNormOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void SoftmaxOp::getEffects(Effects &effects) { collectEffects(*this, effects); }

/// Verifies destination and epilogue of an op whose dst has the shape of src.
template <typename Op>
static LogicalResult verifySameShape(Op op) {
  ShapedType src = typeOf(op.getSrc()), dst = typeOf(op.getDst());
  if (failed(expectRank(op, "dst", op.getDst(), src.getRank())))
    return failure();
  for (int64_t i = 0; i < src.getRank(); ++i)
    if (failed(expectSize(op, "dst dimension " + Twine(i), src.getDimSize(i),
                          dst.getDimSize(i))))
      return failure();
  if (failed(verifyDst(op, op.getDst())))
    return failure();
  return verifyEpilogue(op, op.getDst());
}

/// Verifies an op that works on rows and whose dst has the shape of src.
template <typename Op>
static LogicalResult verifyRows(Op op) {
  if (typeOf(op.getSrc()).getRank() == 0)
    return op.emitOpError("expects src of rank 1 or more, but got 0");
  return verifySameShape(op);
}

LogicalResult SoftmaxOp::verify() {
  int64_t rank = typeOf(getSrc()).getRank();
  if (getColumns() && rank < 2)
    return emitOpError("expects src of rank 2 or more, but got ") << rank;
  return verifyRows(*this);
}

/// Verifies that dst has `words` 32-bit elements for each row of src, and that
/// the epilogue stores them unchanged.
template <typename Op>
static LogicalResult verifyWords(Op op, StringRef what, int64_t words) {
  ShapedType src = typeOf(op.getSrc()), dst = typeOf(op.getDst());
  int64_t last = src.getRank() - 1;
  for (int64_t i = 0; i < last; ++i)
    if (failed(expectSize(op, "dst dimension " + Twine(i), src.getDimSize(i),
                          dst.getDimSize(i))))
      return failure();
  if (failed(expectSize(op, what, words, dst.getDimSize(last))) ||
      failed(verifyDst(op, op.getDst())) ||
      failed(verifyEpilogue(op, op.getDst())))
    return failure();
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() == 1 && &body.front() == body.getTerminator() &&
      body.getTerminator()->getOperand(0) == body.getArgument(0))
    return success();
  return op.emitOpError("expects an epilogue that yields its argument");
}

/// Verifies rows of static length in src and 32-bit elements in dst.
template <typename Op>
static LogicalResult expectRows(Op op, StringRef what) {
  int64_t rank = typeOf(op.getSrc()).getRank();
  if (rank < 1)
    return op.emitOpError("expects src of rank 1 or more, but got 0");
  return failure(
      failed(expectRank(op, "dst", op.getDst(), rank)) ||
      failed(expectKnown(op, what, typeOf(op.getSrc()).getShape().back())));
}

LogicalResult PackSignsOp::verify() {
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  if (failed(expectRows(*this, "channels")))
    return failure();
  if (!signless(src.getElementType()).isInteger(8) ||
      !dst.getElementType().isInteger(32))
    return emitOpError("expects src of bytes and dst of i32, but got ")
           << src.getElementType() << " and " << dst.getElementType();
  int64_t zero = getZeroPoint();
  if (zero < 0 || zero > 255)
    return emitOpError("expects zero_point of 0 to 255, but got ") << zero;
  return verifyWords(*this, "words of a pixel",
                     pixelWords(src.getShape().back()));
}

LogicalResult RoundBlocksOp::verify() {
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  int64_t block = getBlockSize();
  if (failed(expectRows(*this, "inner dimension")))
    return failure();
  if (!src.getElementType().isF32() || !dst.getElementType().isInteger(32))
    return emitOpError("expects src of f32 and dst of i32, but got ")
           << src.getElementType() << " and " << dst.getElementType();
  if (block < 4 || block % 4 != 0)
    return emitOpError("expects a block_size in multiples of 4, but got ")
           << block;
  int64_t blocks = llvm::divideCeil(src.getShape().back(), block);
  if (blocks == 0)
    return verifyWords(*this, "words of a row", 0);
  int64_t digits = digitsOf(dst.getShape().back() / blocks, block);
  return verifyWords(*this, "words of a row",
                     blocks * roundedWords(block, digits));
}

LogicalResult RowNormOp::verify() { return verifyRows(*this); }

LogicalResult GroupNormOp::verify() {
  if (failed(expectRank(*this, "src", getSrc(), 3)))
    return failure();
  int64_t channels = typeOf(getSrc()).getDimSize(2), groups = getGroups();
  if (failed(expectKnown(*this, "channels", channels)))
    return failure();
  if (groups < 1 || channels % groups != 0)
    return emitOpError("expects a number of groups that divides ")
           << channels << ", but got " << groups;
  return verifySameShape(*this);
}

/// Verifies an op that computes floats from floats or unsigned bytes.
template <typename Op>
static LogicalResult verifyFloats(Op op) {
  Type from = signless(typeOf(op.getSrc()).getElementType());
  if (!isa<FloatType>(from) && !from.isInteger(8))
    return op.emitOpError("expects floats or bytes, but got ") << from;
  Type result = op.getEpilogue().front().getArgument(0).getType();
  if (!isa<FloatType>(result))
    return op.emitOpError("expects an epilogue of floats, but got ") << result;
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(expectRank(*this, "src", getSrc(), 3)) ||
      failed(expectRank(*this, "dst", getDst(), 2)))
    return failure();
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  int64_t columns = src.getDimSize(2);
  if (getKind() == ReduceKind::range) {
    if (failed(expectSize(*this, "src dimension 2", 1, columns)))
      return failure();
    if (!src.getElementType().isF32())
      return emitOpError("expects f32, but got ") << src.getElementType();
    columns = 2;
  }
  if (failed(expectSize(*this, "dst dimension 0", src.getDimSize(0),
                        dst.getDimSize(0))) ||
      failed(
          expectSize(*this, "dst dimension 1", columns, dst.getDimSize(1))) ||
      failed(verifyDst(*this, getDst())) ||
      failed(verifyEpilogue(*this, getDst())))
    return failure();
  return verifyFloats(*this);
}

LogicalResult PoolOp::verify() {
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  int64_t rank = src.getRank();
  if (rank < 3 || rank > 5)
    return emitOpError("expects src of rank 3 to 5, but got ") << rank;
  if (failed(expectRank(*this, "dst", getDst(), rank)) ||
      failed(expectCount(*this, "kernel sizes", getKernel(), rank - 2)) ||
      failed(expectCount(*this, "strides", getStrides(), rank - 2)) ||
      failed(expectCount(*this, "dilations", getDilations(), rank - 2)) ||
      failed(expectCount(*this, "pads", getPads(), 2 * (rank - 2))))
    return failure();
  for (ArrayRef<int64_t> values : {getKernel(), getStrides(), getDilations()})
    for (int64_t value : values)
      if (value < 1)
        return emitOpError("expects kernel, strides and dilations of at least "
                           "1, but got ")
               << value;
  for (int64_t pad : getPads())
    if (pad < 0)
      return emitOpError("expects pads of at least 0, but got ") << pad;
  if (failed(expectKnown(*this, "channels", src.getDimSize(rank - 1))) ||
      failed(expectSize(*this, "dst batch", src.getDimSize(0),
                        dst.getDimSize(0))) ||
      failed(expectSize(*this, "dst channels", src.getDimSize(rank - 1),
                        dst.getDimSize(rank - 1))) ||
      failed(verifyDst(*this, getDst())) ||
      failed(verifyEpilogue(*this, getDst())))
    return failure();
  return getKind() == PoolKind::max ? success() : verifyFloats(*this);
}

LogicalResult ResampleOp::verify() {
  if (failed(ingot::kernel::verifyResample(*this)))
    return failure();
  if (numRowDims() == 0)
    return emitOpError("expects a dimension before that of the elements");
  if (failed(verifyDst(*this, getDst())))
    return failure();
  return verifyEpilogue(*this, getDst());
}

LogicalResult BandMatMulOp::verify() {
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  ShapedType weights = typeOf(getWeights());
  int64_t rank = src.getRank(), dim = getDim();
  if (dim < 0 || (rank != dim + 1 && rank != dim + 2))
    return emitOpError("expects src of rank ")
           << dim + 1 << " or " << dim + 2 << ", but got " << rank;
  if (failed(expectRank(*this, "dst", getDst(), rank)) ||
      failed(expectRank(*this, "starts", getStarts(), 1)) ||
      failed(expectRank(*this, "weights", getWeights(), 2)))
    return failure();
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim && failed(expectSize(*this, "dst dimension " + Twine(i),
                                      src.getDimSize(i), dst.getDimSize(i))))
      return failure();
  int64_t rows = dst.getDimSize(dim);
  if (failed(expectSize(*this, "starts", rows,
                        typeOf(getStarts()).getDimSize(0))) ||
      failed(expectSize(*this, "weights dimension 0", rows,
                        weights.getDimSize(0))))
    return failure();
  int64_t unit = bandUnit(numChannels()), taps = numTaps();
  if (!ShapedType::isDynamic(taps) && (taps < 1 || taps % unit != 0))
    return emitOpError("expects a multiple of ")
           << unit << " taps, but got " << taps;
  Type element = signless(src.getElementType());
  if (!element.isF32() && !element.isInteger(8))
    return emitOpError("expects src of f32 or bytes, but got ") << element;
  if (std::optional<ArrayRef<int64_t>> order = getOrder()) {
    SmallVector<int64_t> sorted(*order);
    llvm::sort(sorted);
    if (rank != dim + 2 || sorted.empty() || sorted.size() > 4 ||
        int64_t(sorted.size()) != numChannels() ||
        !llvm::equal(sorted, llvm::seq<int64_t>(0, sorted.size())))
      return emitOpError("expects an order of 1 to 4 channels, but got [")
             << *order << "] of " << numChannels();
  }
  if (failed(verifyDst(*this, getDst())))
    return failure();
  return verifyEpilogue(*this, getDst());
}
