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

/// Returns the block size of the kernel. If rows are rounded to bytes, a block
/// is extended to whole words of weights.
static int64_t blockOf(nn::PackedMatMulOp op) {
  const int64_t block = op.getBlockSize(), depth = op.getDepth();
  return op.getRoundsA() ? int64_t(llvm::alignTo(std::min(block, depth),
                                                 32 / int64_t(op.getBits())))
                         : block;
}

/// Rounds the rows of `a` to bytes, block by block.
static Value roundRows(PatternRewriter &rewriter, nn::PackedMatMulOp op) {
  Value a = op.getA();
  RankedTensorType type = typeOf(a);
  const int64_t bits = op.getBits(), depth = op.getDepth();
  const int64_t block = blockOf(op);
  const int64_t factor = -(int64_t(1) << (bits - 1));
  // Products with the same operand share its rounded rows.
  for (Operation *user : a.getUsers())
    if (auto other = dyn_cast<cpu::RoundBlocksOp>(user))
      if (int64_t(other.getBlockSize()) == block &&
          int64_t(other.getFactor()) == factor)
        return other.getResult();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(a);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = llvm::divideCeil(depth, block) * cpu::roundedWords(block);
  auto words = RankedTensorType::get(shape, rewriter.getI32Type());
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
  std::optional<cpu::PackedBlocks> packed = cpu::packBlocks(op);
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
  Value rows = op.getRoundsA() ? roundRows(rewriter, op) : op.getA();
  auto product = cpu::PackedMatMulOp::create(
      rewriter, loc, type, rows, constant(packed->words),
      constant(packed->scales), constant(packed->zeroPoints),
      /*epilogue_operands=*/ValueRange(), destination,
      cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::bits,
                            op.getBits(), blockOf(op)),
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
