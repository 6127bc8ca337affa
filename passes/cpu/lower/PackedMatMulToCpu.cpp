//===- PackedMatMulToCpu.cpp - products with weights of few bits ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/lower/PackBlocks.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/cpu/policy/Int8Products.h"
#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

struct PackedMatMulPattern : OpRewritePattern<nn::PackedMatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::PackedMatMulOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

/// Returns the form of the rows that the kernel multiplies. If rows are
/// rounded, a block is extended to whole words of weights.
static cpu::PackedRows rowsOf(nn::PackedMatMulOp op) {
  const int64_t bits = op.getBits();
  auto wholeWords = [&](int64_t block) {
    return int64_t(
        llvm::alignTo(std::min(block, int64_t(op.getDepth())), 32 / bits));
  };
  if (op.getRoundsA())
    return {1, wholeWords(op.getBlockSize())};
  Answer<bool> answer = cpu::isForSplitRows(op);
  if (answer.choice)
    return {cpu::kSplitDigits, wholeWords(cpu::splitBlockOf(op))};
  return {0, int64_t(op.getBlockSize())};
}

/// Rounds the rows of `a` to bytes or to a fixed point, block by block.
static Value roundRows(PatternRewriter &rewriter, nn::PackedMatMulOp op,
                       const cpu::PackedRows &rows) {
  Value a = op.getA();
  RankedTensorType type = typeOf(a);
  const int64_t bits = op.getBits(), depth = op.getDepth();
  const auto [digits, block] = rows;
  const int64_t factor = -(int64_t(1) << (bits - 1));
  SmallVector<int64_t> shape(type.getShape());
  shape.back() =
      llvm::divideCeil(depth, block) * cpu::roundedWords(block, digits);
  auto words = RankedTensorType::get(shape, rewriter.getI32Type());
  // Products with the same operand share its rounded rows.
  for (Operation *user : a.getUsers())
    if (auto other = dyn_cast<cpu::RoundBlocksOp>(user))
      if (int64_t(other.getBlockSize()) == block &&
          int64_t(other.getFactor()) == factor &&
          other.getResult().getType() == words)
        return other.getResult();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(a);
  Value destination = support::createEmpty(
      rewriter, op.getLoc(), words,
      support::dynamicSizesLike(rewriter, op.getLoc(), words, a));
  auto round = cpu::RoundBlocksOp::create(
      rewriter, op.getLoc(), words, a, /*epilogue_operands=*/ValueRange(),
      destination, block, factor, /*schedule=*/{});
  cpu::buildEpilogue(rewriter, op.getLoc(), round.getEpilogue(),
                     words.getElementType(), /*hasBias=*/false);
  return round.getResult();
}

LogicalResult
PackedMatMulPattern::matchAndRewrite(nn::PackedMatMulOp op,
                                     PatternRewriter &rewriter) const {
  RankedTensorType type = op.getY().getType();
  if (Reason reason = cpu::whyNotToCpu(op))
    return rewriter.notifyMatchFailure(op, *reason);
  const cpu::PackedRows form = rowsOf(op);
  std::optional<cpu::PackedBlocks> packed = cpu::packBlocks(op, form);
  if (!packed)
    return rewriter.notifyMatchFailure(op, cpu::kNoBytes);
  Location loc = op.getLoc();
  auto constant = [&](ElementsAttr attr) -> Value {
    return attr ? arith::ConstantOp::create(rewriter, op.getCodes().getLoc(),
                                            attr)
                : Value();
  };
  Value destination = support::createEmpty(
      rewriter, loc, type,
      support::dynamicSizesLike(rewriter, loc, type, op.getA()));
  Value rows = form.digits != 0 ? roundRows(rewriter, op, form) : op.getA();
  auto product = cpu::PackedMatMulOp::create(
      rewriter, loc, type, rows, constant(packed->words),
      constant(packed->scales), constant(packed->zeroPoints),
      /*epilogue_operands=*/ValueRange(), destination,
      cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::bits,
                            op.getBits(), form.block),
      /*schedule=*/{});
  cpu::buildEpilogue(rewriter, loc, product.getEpilogue(),
                     type.getElementType(), /*hasBias=*/false);
  cpu::recordPacking(product);
  rewriter.replaceOp(op, product.getResult());
  return success();
}

void cpu::populatePackedMatMulToCpu(RewritePatternSet &patterns) {
  patterns.add<PackedMatMulPattern>(patterns.getContext());
}
