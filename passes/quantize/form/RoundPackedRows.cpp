//===- RoundPackedRows.cpp - nn-round-packed-rows -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Rules.h"

namespace ingot {
#define GEN_PASS_DEF_ROUNDPACKEDROWS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct RoundPackedRowsPass
    : ingot::impl::RoundPackedRowsBase<RoundPackedRowsPass> {
  using RoundPackedRowsBase::RoundPackedRowsBase;

  void runOnOperation() override {
    const KeepRules rules = KeepRules::again(keep);
    const Policy &policy = Policy::of(getOperation());
    getOperation()->walk([&](nn::PackedMatMulOp op) {
      if (!(any || op.getMayRoundA()))
        return;
      Answer<bool> answer =
          rules.keeps(op) ? Answer<bool>{false, "is kept in float32 by a rule"}
                          : policy.roundRows(op);
      if (!record(op, Question::precision, answer, "int8", "float32"))
        return;
      op.setRoundsA(true);
      ++rounded;
    });
  }
};

} // namespace
