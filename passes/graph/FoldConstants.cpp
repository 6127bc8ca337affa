//===- FoldConstants.cpp - nn-fold-constants ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Evaluate.h"
#include "passes/graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct FoldConstantsPass
    : ingot::impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;
  void runOnOperation() override;

  int64_t elementsAllowed(Operation *op);
};

} // namespace

/// Bytes that a value takes in the artifact.
static int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  Type element = tensor.getElementType();
  if (!element.isIntOrIndexOrFloat() && !isa<ComplexType>(element))
    return 0;
  return tensor.getNumElements() * nn::elementBytes(element);
}

int64_t FoldConstantsPass::elementsAllowed(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || bytesOf(type) == 0)
    return maxBytes;
  int64_t operandBytes = 0;
  for (Value operand : op->getOperands())
    operandBytes += bytesOf(operand.getType());
  // A result of another width may be a few times its operand; an expansion is
  // cheaper computed than stored.
  int64_t grown = std::max<int64_t>(maxGrowth * operandBytes, smallBytes);
  return std::min<int64_t>(maxBytes, grown) /
         nn::elementBytes(type.getElementType());
}

void FoldConstantsPass::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation()->walk([&](Operation *op) {
    if (op != getOperation() && op->getNumResults() == 1)
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (nn::foldInPlace(op, elementsAllowed(op)))
      ++folded;
  // Operands of what was folded, last first, so that chains go.
  SmallVector<Operation *> constants;
  getOperation()->walk([&](arith::ConstantOp op) { constants.push_back(op); });
  for (Operation *op : llvm::reverse(constants))
    if (op->use_empty())
      op->erase();
}
