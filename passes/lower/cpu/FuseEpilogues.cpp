//===- FuseEpilogues.cpp - cpu-fuse-epilogues -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/lower/cpu/Passes.h"
#include "passes/support/Producers.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "passes/lower/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using lower::typeOf;

/// More than models chain; each operand is one more stream to read.
static constexpr unsigned kMaxOperands = 6;

/// Whether `other` broadcasts to `result`, with sizes that no run can change.
static bool broadcastsTo(Value other, Value result) {
  RankedTensorType from = typeOf(other), to = typeOf(result);
  if (!from.getElementType().isF32() || from.getRank() > to.getRank())
    return false;
  int64_t missing = to.getRank() - from.getRank();
  for (int64_t i = 0; i < from.getRank(); ++i) {
    if (from.getDimSize(i) == 1 ||
        (!from.isDynamicDim(i) &&
         from.getDimSize(i) == to.getDimSize(missing + i)))
      continue;
    if (!lower::isSameDim(other, i, result, missing + i))
      return false;
  }
  return true;
}

namespace {

struct FuseEpiloguesPass : ingot::impl::FuseEpiloguesBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    fused += fuse::fuseInOrder(
        getOperation(),
        [&](Operation *op, fuse::Order &order) { return fuseOne(op, order); });
  }

  bool fuseOne(Operation *op, fuse::Order &order);
  bool fuseInto(cpu::EpilogueOpInterface kernel, Operation *op,
                fuse::Order &order);
};

} // namespace

/// Lets `kernel` compute what `op` does of its result, where `op` stands.
bool FuseEpiloguesPass::fuseInto(cpu::EpilogueOpInterface kernel, Operation *op,
                                 fuse::Order &order) {
  Value result = kernel->getResult(0);
  auto isOp = [&](Operation *user) { return user == op; };
  if (!llvm::all_of(result.getUsers(), isOp) ||
      op->getResult(0).getType() != result.getType() ||
      kernel->getBlock() != op->getBlock())
    return false;
  SmallVector<Value> others;
  for (Value operand : op->getOperands()) {
    if (operand == result)
      continue;
    if (!nn::getSplat(operand) && !broadcastsTo(operand, result))
      return false;
    others.push_back(operand);
  }
  if (kernel.getEpilogueOperands().size() + others.size() > kMaxOperands)
    return false;

  Location loc = op->getLoc();
  Block &body = kernel.getEpilogue().front();
  auto yield = cast<cpu::YieldOp>(body.getTerminator());
  OpBuilder inside(yield);
  // Tried on arguments that come and go, so that an op without a scalar form
  // leaves nothing behind.
  Block scratch;
  OpBuilder trial(&getContext());
  trial.setInsertionPointToEnd(&scratch);
  SmallVector<Value> trialArgs;
  for (Value operand : op->getOperands())
    trialArgs.push_back(
        scratch.addArgument(typeOf(operand).getElementType(), loc));
  Value built =
      cast<nn::ElementwiseOpInterface>(op).buildScalar(trial, trialArgs);
  if (!built || built.getType() != typeOf(result).getElementType())
    return false;

  OpBuilder outside(op);
  IRMapping values;
  for (auto [operand, argument] :
       llvm::zip_equal(op->getOperands(), trialArgs)) {
    if (operand == result) {
      values.map(argument, yield.getValues()[0]);
    } else if (std::optional<double> number = nn::getSplat(operand)) {
      values.map(argument,
                 lower::scalar(inside, loc, argument.getType(), *number));
    } else {
      kernel.getEpilogueOperandsMutable().append(
          fuse::expandRank(outside, operand, typeOf(result).getRank()));
      values.map(argument, body.addArgument(argument.getType(), loc));
    }
  }
  for (Operation &step : scratch)
    inside.clone(step, values);
  yield.getValuesMutable()[0].set(values.lookup(built));
  order.replaceByProducer(kernel, op);
  return true;
}

bool FuseEpiloguesPass::fuseOne(Operation *op, fuse::Order &order) {
  if (!isa<nn::ElementwiseOpInterface>(op))
    return false;
  return llvm::any_of(
      fuse::operandsFrom<cpu::EpilogueOpInterface>(op, order),
      [&](OpOperand *operand) {
        return fuseInto(
            operand->get().getDefiningOp<cpu::EpilogueOpInterface>(), op,
            order);
      });
}
