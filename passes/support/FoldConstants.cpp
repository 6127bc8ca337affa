//===- FoldConstants.cpp - nn-fold-constants ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Evaluate.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/support/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct FoldConstantsPass : ingot::impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;
  void runOnOperation() override;

  int64_t bytesAllowed(Operation *op);
  /// Finds ops that only serve scatters of constants.
  void findScattered(ArrayRef<Operation *> ops);

  /// Limit of the bytes that may still be created as large results of ops that
  /// only move elements.
  int64_t movableBytes = 0;
  llvm::DenseSet<Operation *> scattered;
};

} // namespace

/// Returns the bytes that a value takes in the artifact.
static int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  Type element = tensor.getElementType();
  if (!element.isIntOrIndexOrFloat() && !isa<ComplexType>(element))
    return 0;
  return tensor.getNumElements() * nn::elementBytes(element);
}

/// Returns the bytes of an element of op's result, or 1 if the result has no
/// known size.
static int64_t bytesOfElement(Operation *op) {
  Type type = op->getResult(0).getType();
  return bytesOf(type) == 0
             ? 1
             : nn::elementBytes(cast<RankedTensorType>(type).getElementType());
}

/// Returns true if the result has each element of the operands exactly once.
/// For example, an exporter reorders the gates of recurrent weights with such
/// ops.
static bool onlyMoves(Operation *op) {
  return isa<nn::ConcatOp, nn::ReshapeOp, nn::SliceOp, nn::TransposeOp>(op);
}

int64_t FoldConstantsPass::bytesAllowed(Operation *op) {
  Type type = op->getResult(0).getType();
  if (bytesOf(type) == 0 || scattered.contains(op))
    return maxBytes;
  if (onlyMoves(op) && bytesOf(type) > maxBytes)
    return std::max<int64_t>(maxBytes, movableBytes);
  int64_t operandBytes = 0;
  for (Value operand : op->getOperands())
    operandBytes += bytesOf(operand.getType());
  // A result of a wider type may be a few times larger than its operand. A
  // larger expansion is not folded, because it is cheaper to compute than to
  // store.
  int64_t grown = std::max<int64_t>(maxGrowth * operandBytes, smallBytes);
  return std::min<int64_t>(maxBytes, grown);
}

/// Finds scatters of constants, and the ops that compute their operands.
/// Exporters write tables of relative positions in this way. A scatter is
/// folded at compile time, because it copies its data and loops over its
/// indices. Its operands may be large, because they are erased after the fold.
void FoldConstantsPass::findScattered(ArrayRef<Operation *> ops) {
  scattered.clear();
  llvm::DenseSet<Operation *> ofConstants;
  SmallVector<Operation *> work;
  for (Operation *op : ops) {
    bool isConstant = op->hasTrait<OpTrait::ConstantLike>();
    if (!isConstant && (op->getNumOperands() == 0 || op->getNumRegions() != 0 ||
                        !isMemoryEffectFree(op) ||
                        !llvm::all_of(op->getOperands(), [&](Value operand) {
                          return ofConstants.contains(operand.getDefiningOp());
                        })))
      continue;
    ofConstants.insert(op);
    auto scatter = dyn_cast<nn::ScatterNDOp>(op);
    if (scatter && scatter.getReduction() == nn::ScatterReduction::none)
      work.push_back(op);
  }
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (op->hasTrait<OpTrait::ConstantLike>() || !scattered.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      work.push_back(operand.getDefiningOp());
  }
}

void FoldConstantsPass::runOnOperation() {
  // Fold moves of weights of any size, as long as the results are not larger
  // than a few times all constants. Without the fold, each run would read,
  // write and pack the moved weights.
  constexpr int64_t kMaxMoves = 4;
  movableBytes = 0;
  SmallVector<Operation *> ops;
  getOperation()->walk([&](Operation *op) {
    if (op == getOperation() || op->getNumResults() != 1)
      return;
    ops.push_back(op);
    if (isa<arith::ConstantOp>(op))
      movableBytes += kMaxMoves * bytesOf(op->getResult(0).getType());
  });
  findScattered(ops);
  for (Operation *op : ops) {
    int64_t bytes = bytesOf(op->getResult(0).getType());
    if (!nn::foldInPlace(op, bytesAllowed(op) / bytesOfElement(op)))
      continue;
    ++folded;
    if (bytes > maxBytes)
      movableBytes -= bytes;
  }
  // Erases unused operands, last first, so that whole chains are erased.
  SmallVector<Operation *> constants;
  getOperation()->walk([&](arith::ConstantOp op) { constants.push_back(op); });
  for (Operation *op : llvm::reverse(constants))
    if (op->use_empty())
      op->erase();
}
