//===- ReuseEpilogueOperands.cpp - kernel-reuse-epilogue-operands ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelInterfaces.h"
#include "passes/memory/LastUse.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace ingot {
#define GEN_PASS_DEF_REUSEEPILOGUEOPERANDS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Returns the value that `value` is a reshape of.
static Value rootOf(Value value) {
  while (isPureReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Returns true if `op` may write its result over `operand`.
static bool isReusable(kernel::EpilogueOpInterface op, Value operand,
                       OpOperand &init) {
  // Exclude an operand that the kernel also reads in another role. The kernel
  // may read the operand after it overwrote it.
  if (operand.getType() != init.get().getType() ||
      llvm::count(op->getOperands(), operand) > 1)
    return false;
  Value root = rootOf(operand);
  // Require a value that bufferization would not copy: neither a constant nor
  // an input of the model.
  return isa_and_nonnull<DestinationStyleOpInterface>(root.getDefiningOp()) &&
         root.getDefiningOp()->getBlock() == op->getBlock() &&
         root != rootOf(op->getOperand(0)) && diesAt(root, op);
}

static void reuse(kernel::EpilogueOpInterface op) {
  OpOperand &init =
      *cast<DestinationStyleOpInterface>(*op).getDpsInitOperand(0);
  if (!isa<RankedTensorType>(init.get().getType()) ||
      !rootOf(init.get()).getDefiningOp<tensor::EmptyOp>())
    return;
  for (Value operand : op.getEpilogueOperands())
    if (isReusable(op, operand, init))
      return init.set(operand);
}

namespace {
struct ReuseEpilogueOperandsPass
    : ingot::impl::ReuseEpilogueOperandsBase<ReuseEpilogueOperandsPass> {
  void runOnOperation() override { getOperation()->walk(reuse); }
};
} // namespace
