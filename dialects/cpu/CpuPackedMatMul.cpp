//===- CpuPackedMatMul.cpp - cpu.packed_matmul ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;

void PackedMatMulOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}

bool PackedMatMulOp::hasRoundedSrc() {
  return typeOf(getSrc()).getElementType().isInteger(32);
}

int64_t PackedMatMulOp::wordsOfBlock() {
  return typeOf(getWeights()).getDimSize(1) / blocks();
}

int64_t PackedMatMulOp::depth() {
  return hasRoundedSrc() ? blocks() * wordsOfBlock() * perWord()
                         : typeOf(getSrc()).getShape().back();
}

/// Verifies src and weights of the blocks that `cpu.round_blocks` makes.
static LogicalResult verifyRounded(PackedMatMulOp op) {
  ShapedType src = typeOf(op.getSrc()), weights = typeOf(op.getWeights());
  int64_t count = op.blocks();
  if (count < 1 || weights.getDimSize(1) % count != 0)
    return op.emitOpError("expects words of a panel in ")
           << count << " blocks, but got " << weights.getDimSize(1);
  int64_t bytes = op.wordsOfBlock() * op.perWord();
  int64_t block = op.getFormat().getBlockSize();
  if (block != bytes)
    return op.emitOpError("expects blocks of ")
           << bytes << " elements, but got " << block;
  return expectSize(op, "row of src", count * roundedWords(bytes, digitsOf(op)),
                    src.getShape().back());
}

LogicalResult PackedMatMulOp::verify() {
  if (failed(verifyFormat(*this, getFormat(), WeightsKind::bits,
                          {{"scales", getScales()}})))
    return failure();
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst()),
             weights = typeOf(getWeights()), scales = typeOf(getScales());
  int64_t rank = src.getRank(), block = getFormat().getBlockSize();
  if (rank < 2)
    return emitOpError("expects src of rank 2 or more, but got ") << rank;
  if (!src.getElementType().isF32() && !hasRoundedSrc())
    return emitOpError("expects src of f32 or i32, but got ")
           << src.getElementType();
  if (!weights.getElementType().isInteger(32))
    return emitOpError("expects weights of i32, but got ")
           << weights.getElementType();
  if (failed(expectRank(*this, "dst", getDst(), rank)) ||
      failed(expectRank(*this, "weights", getWeights(), 3)) ||
      failed(expectRank(*this, "scales", getScales(), 3)) ||
      failed(expectKnown(*this, "weights", weights.getShape())) ||
      failed(expectKnown(*this, "columns of dst", dst.getShape().back())) ||
      failed(expectKnown(*this, "inner dimension", src.getShape().back())) ||
      failed(expectPanel(*this, panel())))
    return failure();
  if (hasRoundedSrc() && failed(verifyRounded(*this)))
    return failure();
  int64_t panels = llvm::divideCeil(dst.getShape().back(), panel());
  int64_t count = llvm::divideCeil(std::max<int64_t>(depth(), 1), block);
  if (count > 1 && block % perWord() != 0)
    return emitOpError("expects blocks of whole words of ")
           << perWord() << " elements, but got " << block;
  int64_t words =
      count * int64_t(llvm::divideCeil(std::min(block, depth()), perWord()));
  if (failed(expectSize(*this, "weight panels", panels,
                        weights.getDimSize(0))) ||
      failed(expectSize(*this, "words of a panel", words,
                        weights.getDimSize(1))))
    return failure();
  auto expectPerBlock = [&](StringRef name, ShapedType type) -> LogicalResult {
    if (type.getShape() == ArrayRef<int64_t>({panels, count, panel()}))
      return success();
    return emitOpError("expects ")
           << name << " of " << panels << "x" << count << "x" << panel()
           << ", but got " << type;
  };
  if (failed(expectPerBlock("scales", scales)))
    return failure();
  if (!scales.getElementType().isF32())
    return emitOpError("expects scales of f32, but got ")
           << scales.getElementType();
  if (Value zeros = getZeroPoints()) {
    ShapedType type = typeOf(zeros);
    if (failed(expectPerBlock("zero points", type)))
      return failure();
    if (!type.getElementType().isF32() && !type.getElementType().isInteger(8))
      return emitOpError("expects zero points of i8 or f32, but got ")
             << type.getElementType();
  }
  for (int64_t i = 0; i < rank - 1; ++i)
    if (failed(expectSize(*this, "dst dimension " + Twine(i), src.getDimSize(i),
                          dst.getDimSize(i))))
      return failure();
  if (failed(verifyDst(*this, getDst())))
    return failure();
  return verifyEpilogue(*this, getDst());
}
