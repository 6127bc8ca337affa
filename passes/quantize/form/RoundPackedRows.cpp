//===- RoundPackedRows.cpp - nn-round-packed-rows -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Rules.h"
#include "passes/support/Shapes.h"

namespace ingot {
#define GEN_PASS_DEF_ROUNDPACKEDROWS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

struct RoundPackedRowsPass
    : ingot::impl::RoundPackedRowsBase<RoundPackedRowsPass> {
  using RoundPackedRowsBase::RoundPackedRowsBase;

  bool gains(nn::PackedMatMulOp op) const;
  bool byteDots = false;

  void runOnOperation() override {
    const KeepRules rules = KeepRules::again(keep);
    byteDots = cpu::addsByteDots(getOperation());
    getOperation()->walk([&](nn::PackedMatMulOp op) {
      if (!(any || op.getMayRoundA()) || rules.keeps(op) || !gains(op))
        return;
      op.setRoundsA(true);
      ++rounded;
    });
  }
};

} // namespace

/// Whether all levels multiply bytes faster than floats.
bool RoundPackedRowsPass::gains(nn::PackedMatMulOp op) const {
  // Rounding a row takes as long as multiplying it by a few columns.
  constexpr int64_t kLeastColumns = 32;
  // A scale is to be of so many elements at most: of more, the largest drowns
  // too many.
  constexpr int64_t kLargestBlock = 256;
  const int64_t bits = op.getBits(), perWord = 32 / bits;
  const int64_t block = std::min<int64_t>(op.getBlockSize(), op.getDepth());
  const bool isOnlyBlock = block == int64_t(op.getDepth());
  return (bits < 8 || byteDots) && block <= kLargestBlock &&
         (isOnlyBlock || block % perWord == 0) &&
         typeOf(op.getCodes()).getDimSize(0) >= kLeastColumns &&
         nn::getConstant(op.getCodes()) && nn::getConstant(op.getScales()) &&
         (!op.getZeroPoints() || nn::getConstant(op.getZeroPoints()));
}
