//===- RefuteChecks.cpp - ingot-refute-checks -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/Passes.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "dialects/nn/SizeRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace ingot {
#define GEN_PASS_DEF_REFUTECHECKS
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {
struct RefuteChecksPass : ingot::impl::RefuteChecksBase<RefuteChecksPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns the run-time message without the node's name, which the error's
/// location has.
static std::string messageOf(RequireOp op) {
  StringRef text = op.getMessage();
  std::string node = nodeNameOf(op.getLoc());
  if (!node.empty())
    text.consume_front("node '" + node + "': ");
  int64_t values[2] = {0, 0};
  for (auto [i, value] : llvm::enumerate(op.getValues()))
    if (auto known = getConstantIntValue(value))
      values[i] = *known;
  return nn::formatSizes(text, values[0], values[1]);
}

void RefuteChecksPass::runOnOperation() {
  llvm::DenseSet<Location> refused;
  // A check in a loop or a branch may never be reached.
  for (RequireOp op : getOperation().getBody().front().getOps<RequireOp>())
    if (matchPattern(op.getHolds(), m_Zero()) &&
        refused.insert(op.getLoc()).second)
      emitError(op.getLoc()) << messageOf(op);
  if (!refused.empty())
    signalPassFailure();
}
