//===- ReuseOperands.cpp - linalg-reuse-operands --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/Passes.h"
#include "passes/memory/LastUse.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_REUSEOPERANDS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;

/// Returns true if the op may write its result over input `operand`. The op
/// must read only the element that it writes, and no later op may read the
/// operand.
static bool isReusable(linalg::GenericOp op, OpOperand &operand,
                       OpOperand &init) {
  if (operand.get().getType() != init.get().getType() ||
      llvm::count(op->getOperands(), operand.get()) > 1)
    return false;
  if (!op.getMatchingIndexingMap(&operand).isIdentity() ||
      !op.getMatchingIndexingMap(&init).isIdentity())
    return false;
  // Require a value that bufferization would not copy: neither a constant nor
  // an input of the model.
  Operation *definition = operand.get().getDefiningOp();
  return isa_and_nonnull<DestinationStyleOpInterface>(definition) &&
         definition->getBlock() == op->getBlock() &&
         ingot::diesAt(operand.get(), op);
}

static void reuse(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return;
  OpOperand &init = op.getDpsInitsMutable()[0];
  if (!init.get().getDefiningOp<tensor::EmptyOp>() ||
      op.payloadUsesValueFromOperand(&init))
    return;
  // Declines a body that extracts elements of tensors, because it may read any
  // element.
  bool extracts = false;
  op.getRegion().walk([&](tensor::ExtractOp) { extracts = true; });
  if (extracts)
    return;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (isReusable(op, *input, init)) {
      init.set(input->get());
      return;
    }
  }
}

namespace {
struct ReuseOperandsPass
    : ingot::impl::ReuseOperandsBase<ReuseOperandsPass> {
  void runOnOperation() override { getOperation()->walk(reuse); }
};
} // namespace
