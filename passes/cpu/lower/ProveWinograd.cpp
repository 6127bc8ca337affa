//===- ProveWinograd.cpp - cpu-prove-winograd -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers of 32 bits are computed modulo 2^32. The transforms multiply a sum
// by a known factor. The exact sum can be recovered if the product with this
// factor fits in 32 bits: see Winograd.h. The largest possible sum follows from
// the weights of a column. Sums at a border have fewer terms. Transformed
// pixels and weights fit int16 for any bytes.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/support/Rewrite.h"

namespace ingot {
#define GEN_PASS_DEF_PROVEWINOGRAD
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Returns the largest magnitude of any column's sum of (src - zero point)
/// times weights in panels.
static int64_t largestSum(ArrayRef<char> source,
                          const cpu::PackedWeights &weights,
                          int64_t zeroPoint) {
  const auto *at = reinterpret_cast<const int8_t *>(source.data());
  int64_t panels = weights.outer.front(), largest = 0;
  int64_t steps = int64_t(source.size()) / panels / weights.width / 4;
  for (int64_t panel = 0; panel < panels; ++panel) {
    SmallVector<int64_t> positive(weights.width), negative(weights.width);
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t c = 0; c < weights.width; ++c)
        for (int64_t i = 0; i < 4; ++i, ++at)
          (*at > 0 ? positive : negative)[c] += std::abs(int64_t(*at));
    int64_t above = 255 - zeroPoint;
    for (auto [p, n] : llvm::zip_equal(positive, negative))
      largest = std::max({largest, p * above + n * zeroPoint,
                          n * above + p * zeroPoint});
  }
  return largest;
}

namespace {

struct Prove : OpRewritePattern<cpu::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getFormat().getExactTiles() != 0 || !op.mayFilterBytes())
      return rewriter.notifyMatchFailure(
          op, "has tiles already, or is not a 3x3 convolution of bytes");
    std::vector<char> storage;
    std::optional<ArrayRef<char>> source =
        cpu::findBytes(op.getWeights(), storage);
    if (!source)
      return rewriter.notifyMatchFailure(op, "has weights that a run computes");
    int64_t largest = largestSum(*source, cpu::PackedWeights(op.getWeights()),
                                 op.getSrcZeroPoint());
    for (int64_t outputs : {4, 2}) {
      int64_t bits = 31 - cpu::Winograd::ofBytes(outputs).lostBits();
      if (largest >= int64_t(1) << bits)
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        op.setFormatAttr(op.getFormat().withExactTiles(outputs));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "has sums that may be too large");
  }
};

struct ProveWinogradPass
    : ingot::impl::ProveWinogradBase<ProveWinogradPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Prove>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
