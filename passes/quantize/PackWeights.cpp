//===- PackWeights.cpp - nn-pack-weights ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/quantize/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using lower::typeOf;

namespace {

/// Elements of a matrix by output and inner position, whichever comes first.
struct Order {
  bool isTransposed;
  int64_t outputs, inner;

  int64_t at(int64_t output, int64_t k) const {
    return isTransposed ? output * inner + k : k * outputs + output;
  }
};

struct PackMatMul : OpRewritePattern<nn::MatMulOp> {
  PackMatMul(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;
  Pass::Statistic &count;
};

struct PackWeightsPass : ingot::impl::PackWeightsBase<PackWeightsPass> {
  using PackWeightsBase::PackWeightsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PackMatMul>(&getContext(), numPacked);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace

LogicalResult PackMatMul::matchAndRewrite(nn::MatMulOp op,
                                          PatternRewriter &rewriter) const {
  auto weights = op.getB().getDefiningOp<nn::DequantizeBlocksOp>();
  if (!weights || !op.getType().getElementType().isF32() ||
      typeOf(op.getB()).getRank() != 2 || op.getTransposeA())
    return rewriter.notifyMatchFailure(op, "has no matrix of blocks");
  RankedTensorType type = typeOf(weights.getX());
  auto element = dyn_cast<IntegerType>(type.getElementType());
  int64_t bits = element ? element.getWidth() : 0;
  bool isTransposed = op.getTransposeB();
  int64_t axis = isTransposed ? 1 : 0;
  if ((bits != 2 && bits != 4 && bits != 8) ||
      int64_t(weights.getAxis()) != axis)
    return rewriter.notifyMatchFailure(
        op, "has weights of other bits, or blocks along its outputs");
  int64_t depth = type.getDimSize(axis), columns = type.getDimSize(1 - axis);
  int64_t block = std::min<int64_t>(weights.getBlockSize(), depth);
  if (depth < 1 || columns < 1 || (block < depth && block % (32 / bits) != 0))
    return rewriter.notifyMatchFailure(op, "has blocks of no whole words");
  auto numbers = nn::getConstantInts(weights.getX());
  auto scales = nn::getConstantDoubles(weights.getScale());
  std::optional<SmallVector<int64_t>> zeros;
  if (Value zero = weights.getZeroPoint()) {
    zeros = nn::getConstantInts(zero);
    if (!zeros)
      return rewriter.notifyMatchFailure(op, "has computed zero points");
  }
  if (!numbers || !scales)
    return rewriter.notifyMatchFailure(op, "has computed weights");

  int64_t blocks = (depth + block - 1) / block, perByte = 8 / bits;
  int64_t bytes = (block + perByte - 1) / perByte;
  // Codes have no sign.
  int64_t offset = element.isUnsigned() ? 0 : int64_t(1) << (bits - 1);
  Order elements{isTransposed, columns, depth},
      perBlock{isTransposed, columns, blocks};
  std::vector<char> codes(columns * blocks * bytes, 0);
  std::vector<double> factors(columns * blocks), points(columns * blocks);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t at = 0; at < blocks; ++at) {
      int64_t from = perBlock.at(column, at);
      factors[column * blocks + at] = (*scales)[from];
      points[column * blocks + at] =
          double((zeros ? (*zeros)[from] : 0) + offset);
    }
    for (int64_t k = 0; k < depth; ++k) {
      int64_t in = k % block;
      char &byte =
          codes[(column * blocks + k / block) * bytes + in / perByte];
      auto code = unsigned((*numbers)[elements.at(column, k)] + offset);
      byte = char(unsigned(uint8_t(byte)) | code << (in % perByte * bits));
    }
  }
  Location loc = op.getLoc();
  Type byte = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  auto codesType = RankedTensorType::get({columns, blocks, bytes}, byte);
  Value packed = arith::ConstantOp::create(
      rewriter, loc, nn::makeConstantAttr(codesType, std::move(codes)));
  auto each = RankedTensorType::get({columns, blocks}, rewriter.getF32Type());
  Value y = nn::PackedMatMulOp::create(
      rewriter, loc, op.getType(), op.getA(), packed,
      nn::makeConstant(rewriter, loc, each, factors),
      nn::makeConstant(rewriter, loc, each.clone(byte), points), bits, block,
      depth);
  if (Value bias = op.getBias())
    y = nn::AddOp::create(rewriter, loc, op.getType(), y, bias);
  rewriter.replaceOp(op, y);
  ++count;
  return success();
}
