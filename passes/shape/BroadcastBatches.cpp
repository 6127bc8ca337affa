//===- BroadcastBatches.cpp - nn-broadcast-batches ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/Passes.h"
#include "dialects/nn/TensorTypes.h"
#include "passes/shape/SizeAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_BROADCASTBATCHES
#include "passes/shape/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;
using nn::typeOf;

namespace {

struct BroadcastBatchesPass
    : ingot::impl::BroadcastBatchesBase<BroadcastBatchesPass> {
  void runOnOperation() override;
  void broadcast(nn::MatMulOp op);
  void separateBias(nn::MatMulOp op);
};

} // namespace

/// Returns true if it is known at run time only whether batch dimension `dim`
/// of an operand broadcasts.
static bool isOpen(SizeAnalysis &analysis, nn::MatMulOp op, int64_t dim) {
  int64_t rank = typeOf(op.getY()).getRank();
  SmallVector<Size, 2> sizes;
  for (Value operand : {op.getA(), op.getB()}) {
    int64_t at = dim - (rank - typeOf(operand).getRank());
    // A missing dimension broadcasts.
    if (at < 0)
      return false;
    sizes.push_back(analysis.sizesOf(operand)[at]);
  }
  auto isOne = [](Size size) { return nn::knownSize(size) == 1; };
  auto isNumber = [](Size size) { return nn::knownSize(size).has_value(); };
  if (sizes[0] == sizes[1] || isOne(sizes[0]) || isOne(sizes[1]))
    return false;
  return !(isNumber(sizes[0]) && isNumber(sizes[1]));
}

/// Returns true if it is known at run time only whether the bias broadcasts.
static bool hasOpenBias(SizeAnalysis &analysis, nn::MatMulOp op) {
  if (!op.getBias())
    return false;
  Sizes bias(analysis.sizesOf(op.getBias())),
      result(analysis.sizesOf(op.getY()));
  size_t offset = result.size() - bias.size();
  for (auto [i, size] : llvm::enumerate(bias))
    if (!nn::knownSize(size) && size != result[offset + i])
      return true;
  return false;
}

/// Adds the bias after the product, whose sizes are known at run time.
void BroadcastBatchesPass::separateBias(nn::MatMulOp op) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Value y = op.getY(), bias = op.getBias();
  auto sum = nn::AddOp::create(b, op.getLoc(), y.getType(), y, bias);
  y.replaceAllUsesExcept(sum, sum);
  op.getBiasMutable().clear();
  ++numBroadcast;
}

void BroadcastBatchesPass::broadcast(nn::MatMulOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getY());
  int64_t rank = type.getRank();
  auto sizeOf = [&](Value tensor, int64_t dim) -> Value {
    return b.createOrFold<tensor::DimOp>(loc, tensor, dim);
  };
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  // Size of each batch dimension, computed at run time.
  SmallVector<Value> batch;
  for (int64_t i = 0; i < rank - 2; ++i) {
    Value size;
    for (Value operand : {op.getA(), op.getB()}) {
      int64_t at = i - (rank - typeOf(operand).getRank());
      if (at < 0)
        continue;
      Value own = sizeOf(operand, at);
      if (!size) {
        size = own;
        continue;
      }
      Value single = b.createOrFold<arith::CmpIOp>(
          loc, arith::CmpIPredicate::eq, size, one);
      size = b.createOrFold<arith::SelectOp>(loc, single, own, size);
    }
    batch.push_back(size);
  }
  for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
    RankedTensorType own = typeOf(operand->get());
    SmallVector<int64_t> shape(type.getShape().drop_back(2));
    llvm::append_range(shape, own.getShape().take_back(2));
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < rank; ++i)
      if (ShapedType::isDynamic(shape[i]))
        sizes.push_back(i < rank - 2
                            ? batch[i]
                            : sizeOf(operand->get(), own.getRank() - rank + i));
    operand->set(nn::BroadcastToOp::create(
        b, loc, RankedTensorType::get(shape, own.getElementType()),
        operand->get(), sizes));
    ++numBroadcast;
  }
}

void BroadcastBatchesPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return;
  SizeAnalysis analysis(function);
  SmallVector<nn::MatMulOp> open, openBias;
  auto visit = [&](auto &visit, Operation &op, bool isInside) -> LogicalResult {
    SmallVector<SizeAnalysis::Rule> rules;
    if (failed(analysis.addResults(&op, rules)))
      return failure();
    // nn-require-sizes has added checks of these rules, so assume that they
    // hold. A check in a branch or a loop says nothing about ops outside, so
    // skip it.
    if (!isInside)
      for (const SizeAnalysis::Rule &rule : rules)
        analysis.assume(rule);
    if (hasTensorBody(&op)) {
      analysis.addLoopState(&op);
      for (Region &region : op.getRegions())
        for (Operation &inner : region.getOps())
          if (failed(visit(visit, inner, /*isInside=*/true)))
            return failure();
    }
    auto matmul = dyn_cast<nn::MatMulOp>(op);
    if (!matmul)
      return success();
    auto dims = llvm::seq<int64_t>(0, typeOf(matmul.getY()).getRank() - 2);
    if (llvm::any_of(dims, [&](int64_t i) {
          return isOpen(analysis, matmul, i);
        }))
      open.push_back(matmul);
    if (hasOpenBias(analysis, matmul))
      openBias.push_back(matmul);
    return success();
  };
  for (Operation &op : function.getBody().front())
    if (failed(visit(visit, op, /*isInside=*/false)))
      return signalPassFailure();
  for (nn::MatMulOp op : openBias)
    separateBias(op);
  for (nn::MatMulOp op : open)
    broadcast(op);
}
