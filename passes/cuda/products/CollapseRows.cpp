//===- CollapseRows.cpp - cuda-collapse-rows ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_COLLAPSEROWS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct CollapseRowsPass : ingot::impl::CollapseRowsBase<CollapseRowsPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns the dimensions of a memref of `rank` in two groups: rows and
/// columns.
static SmallVector<ReassociationIndices> groupsOf(int64_t rank) {
  return {llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)), {rank - 1}};
}

/// Returns true if the rows of `memref` can become one dimension. They are
/// those of `dst`, or one row for all of them.
static bool isCollapsible(Value memref, MemRefType dst) {
  auto type = cast<MemRefType>(memref.getType());
  ArrayRef<int64_t> rows = type.getShape().drop_back();
  const bool isOne = llvm::all_of(rows, [](int64_t size) { return size == 1; });
  return (isOne || rows == dst.getShape().drop_back()) &&
         memref::CollapseShapeOp::isGuaranteedCollapsible(
             type, groupsOf(type.getRank()));
}

void CollapseRowsPass::runOnOperation() {
  getOperation()->walk([&](MatMulOp op) {
    auto dst = dyn_cast<MemRefType>(op.getDst().getType());
    if (!dst || dst.getRank() <= 2 || dst.hasStaticShape() ||
        cast<MemRefType>(op.getWeights().getType()).getRank() != 2)
      return;
    SmallVector<OpOperand *> operands;
    for (OpOperand &operand : op->getOpOperands())
      if (&operand != &op.getWeightsMutable())
        operands.push_back(&operand);
    if (!llvm::all_of(operands, [&](OpOperand *operand) {
          return isCollapsible(operand->get(), dst);
        }))
      return;
    OpBuilder b(op);
    for (OpOperand *operand : operands)
      operand->set(memref::CollapseShapeOp::create(
          b, op.getLoc(), operand->get(), groupsOf(dst.getRank())));
    ++collapsed;
  });
}
