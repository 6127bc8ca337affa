//===- RecognizeDequantize.cpp - nn-recognize-dequantize ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Evaluate.h"
#include "dialects/nn/NNDialect.h"
#include "passes/graph/Passes.h"
#include "passes/graph/recognize/DequantizedWeights.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot {
#define GEN_PASS_DEF_RECOGNIZEDEQUANTIZE
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using support::typeOf;

namespace {

struct RecognizeDequantizePass
    : ingot::impl::RecognizeDequantizeBase<RecognizeDequantizePass> {
  using RecognizeDequantizeBase::RecognizeDequantizeBase;

  void runOnOperation() override;
  std::optional<DequantizedWeights> findWeights(Operation *op);
  /// Folds the operations on constants that compute `value`, if each result has
  /// at most `most` elements. Returns false if `value` depends on anything
  /// else.
  bool foldConstant(Value value, int64_t most);
  /// Replaces uses of the weights behind `op` that end their chain.
  void replaceUses(Operation *op);

  llvm::DenseMap<Operation *, DequantizedWeights> weights;
};

} // namespace

/// Returns true if the result is a tensor of known size with at most `most`
/// elements.
static bool isSmall(Operation *op, int64_t most) {
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  return type && type.hasStaticShape() && type.getNumElements() <= most;
}

bool RecognizeDequantizePass::foldConstant(Value value, int64_t most) {
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (!op || op->getNumRegions() != 0 || op->getNumOperands() == 0 ||
      !isMemoryEffectFree(op) || !isSmall(op, most))
    return false;
  // Operands change when they are folded. Stops at the first that is computed:
  // paths through a graph of computed values are too many to follow.
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (!foldConstant(op->getOperand(i), most))
      return false;
  if (!nn::foldInPlace(op, most))
    return false;
  weights.erase(op);
  return true;
}

/// Returns true if `use` multiplies weights or looks up rows.
static bool isProductOrLookup(OpOperand &use) {
  return isa<nn::ConvOp, nn::GatherOp, nn::MatMulOp>(use.getOwner());
}

std::optional<DequantizedWeights>
RecognizeDequantizePass::findWeights(Operation *op) {
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    auto found = weights.find(op->getOperand(i).getDefiningOp());
    if (found == weights.end())
      continue;
    const int64_t most = found->second.numElements();
    // Scales may be dequantized themselves.
    for (unsigned other = 0; other < op->getNumOperands(); ++other)
      if (other != i)
        foldConstant(op->getOperand(other), most / 2);
    if (auto result = found->second.behind(op, i))
      return result;
  }
  // Integers may be unpacked from words that hold several.
  if (isa<nn::CastOp>(op)) {
    auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (from && from.getElementType().isInteger() && from.hasStaticShape())
      foldConstant(op->getOperand(0), from.getNumElements());
  }
  return DequantizedWeights::start(op);
}

void RecognizeDequantizePass::replaceUses(Operation *op) {
  const DequantizedWeights &found = weights.find(op)->second;
  if (found.isDequantize() ||
      !typeOf(op->getResult(0)).getElementType().isF32())
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : op->getUses())
    if (!weights.contains(use.getOwner()) &&
        (!found.areIntegers() || isProductOrLookup(use)))
      uses.push_back(&use);
  if (uses.empty())
    return;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value made = found.make(builder, op);
  if (!made)
    return;
  for (OpOperand *use : uses)
    use->set(made);
  ++numRecognized;
}

void RecognizeDequantizePass::runOnOperation() {
  weights.clear();
  SmallVector<Operation *> order;
  // Folding erases operations that come before.
  getOperation()->walk([&](Operation *op) {
    if (op->getNumResults() == 1 &&
        isa<RankedTensorType>(op->getResult(0).getType()))
      if (auto found = findWeights(op)) {
        weights.try_emplace(op, std::move(*found));
        order.push_back(op);
      }
  });
  // Last first, so that a chain that ends is erased.
  for (Operation *op : llvm::reverse(order)) {
    if (!weights.contains(op))
      continue;
    replaceUses(op);
    if (op->use_empty()) {
      weights.erase(op);
      op->erase();
    }
  }
}
