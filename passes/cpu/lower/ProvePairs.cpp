//===- ProvePairs.cpp - cpu-prove-pairs -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `vpmaddubsw` adds two products of bytes as an int16, with saturation. It
// cannot saturate if the data are at most 127. It also cannot saturate if the
// positive weights of each pair add up to at most 128, and the negative ones to
// at least -128. PairProducts.h explains the pairings.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/lower/ByteRange.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/policy/PairLimits.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_PROVEPAIRS
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// `kPairings` is the number of pairings of a group, each a bit in `pairs`.
/// `kCrossed` is the bit of the crossed pairing.
static constexpr int kCrossed = 1, kPairings = 2;

/// Returns the pairings of a group of four weights that never saturate with
/// data bytes up to `largest`.
static int pairingsOf(const int8_t *four, int64_t largest) {
  auto fits = [&](int x, int y) {
    return cpu::fitsInt16(four[x], four[y], largest);
  };
  int pairings = 0;
  if (fits(0, 1) && fits(2, 3))
    pairings |= 1;
  if (fits(0, 2) && fits(1, 3))
    pairings |= 1 << kCrossed;
  return pairings;
}

/// Returns the index of the count to which a group belongs. The index is 0 if
/// the first pairing is safe, 1 if only the crossed one is safe, else 2.
static int kindOf(int pairings) {
  return pairings & 1 ? 0 : pairings != 0 ? 1 : 2;
}

/// Says why the pass does not pair the bytes of `op`.
static const char *whyNot(cpu::ConvOp op) {
  if (op.getGroups() != 1)
    return "has groups";
  return nullptr;
}
static const char *whyNot(cpu::MatMulOp op) {
  if (op.getFormat().isBlocks())
    return "has blocks of weights";
  if (cpu::PackedWeights(op.getWeights()).outer.size() != 1)
    return "has a right factor for each batch";
  return nullptr;
}

/// Returns the largest byte that weights are multiplied by, including padding.
static int64_t largestByteOf(cpu::ConvOp op) {
  return std::max(cpu::largestByteOf(op.getSrc()),
                  int64_t(op.getSrcZeroPoint()));
}
static int64_t largestByteOf(cpu::MatMulOp op) {
  return cpu::largestByteOf(op.getSrc());
}

/// Returns the number of neighbouring taps along a row.
static int64_t tapsOfRow(cpu::ConvOp op) {
  return cpu::PackedWeights(op.getWeights()).outer.back();
}
static int64_t tapsOfRow(cpu::MatMulOp) { return 1; }

namespace {

template <typename Op> struct ProvePairs : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    cpu::PackedWeights weights(op.getWeights());
    if (op.getFormat().getPairs() || !weights.element.isInteger(8))
      return rewriter.notifyMatchFailure(
          op, "has pairs already, or multiplies no bytes");
    if (const char *reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, reason);
    int64_t depth = cast<ShapedType>(op.getSrc().getType()).getShape().back();
    if (depth % weights.group != 0)
      return rewriter.notifyMatchFailure(op, "has no whole groups of k");
    int64_t groups = weights.depth / weights.group;
    int64_t all = groups * support::productOf(weights.outer.drop_front());
    if (!cpu::suitsPairs(groups * tapsOfRow(op), all,
                         TargetsAttr::of(op).getNumbers()))
      return rewriter.notifyMatchFailure(op, "has too few or too many k");
    int64_t rows = support::productOf(
        cast<ShapedType>(op.getDst().getType()).getShape().drop_back());
    if (!cpu::haveRowsForPairs(rows))
      return rewriter.notifyMatchFailure(op, "has few rows");
    std::vector<char> storage;
    std::optional<ArrayRef<char>> source =
        cpu::findBytes(op.getWeights(), storage);
    if (!source)
      return rewriter.notifyMatchFailure(op, "has weights that a run computes");
    const auto *at = reinterpret_cast<const int8_t *>(source->data());

    const int64_t largest = largestByteOf(op);
    int64_t parts = llvm::divideCeil(weights.width, cpu::kPairColumns);
    SmallVector<int64_t> counts(cpu::kPairCounts, 0);
    std::vector<char> statements(support::productOf(weights.outer) * groups);
    for (char &statement : statements) {
      int ofPanel = (1 << kPairings) - 1;
      for (int64_t part = 0; part < parts; ++part) {
        int ofPart = (1 << kPairings) - 1;
        for (int64_t c = 0; c < cpu::kPairColumns; ++c, at += 4)
          ofPart &= pairingsOf(at, largest);
        ++counts[kindOf(ofPart)];
        ofPanel &= ofPart;
        statement |= char(ofPart << (kPairings * part));
      }
      ++counts[3 + kindOf(ofPanel)];
    }
    // Declines if half or more of the groups are widened, because int16
    // products are then faster on each level.
    if (2 * counts[2] >= counts[0] + counts[1] + counts[2])
      return rewriter.notifyMatchFailure(op, "has pairs that may saturate");
    SmallVector<int64_t> shape(weights.outer);
    shape.push_back(groups);
    Value pairs = arith::ConstantOp::create(
        rewriter, op.getWeights().getLoc(),
        nn::makeConstantAttr(RankedTensorType::get(shape, rewriter.getI8Type()),
                             std::move(statements)));
    rewriter.modifyOpInPlace(op, [&] {
      op.getPairsMutable().assign(pairs);
      op.setFormatAttr(op.getFormat().withPairs(counts));
    });
    return success();
  }
};

struct ProvePairsPass : ingot::impl::ProvePairsBase<ProvePairsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ProvePairs<cpu::ConvOp>, ProvePairs<cpu::MatMulOp>>(
        &getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
