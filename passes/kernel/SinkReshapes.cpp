//===- SinkReshapes.cpp - kernel-sink-reshapes ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelInterfaces.h"
#include "dialects/nn/NNDialect.h"
#include "passes/kernel/Passes.h"
#include "passes/support/Producers.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {
#define GEN_PASS_DEF_SINKRESHAPES
#include "passes/kernel/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

struct SinkReshapesPass : ingot::impl::SinkReshapesBase<SinkReshapesPass> {
  void runOnOperation() override;
  tensor::ExpandShapeOp reshapeBefore(Operation *op) const;
  bool sink(Operation *op);

  /// Ops that compute elements of a kernel's result in its shape.
  llvm::DenseSet<Operation *> moved;
};

} // namespace

/// Returns the source of a reshape that is like `reshape`, or null.
static Value sourceOf(Value operand, tensor::ExpandShapeOp reshape) {
  auto other = operand.getDefiningOp<tensor::ExpandShapeOp>();
  return other && other.getReassociation() == reshape.getReassociation() &&
                 other.getType().getShape() == reshape.getType().getShape() &&
                 other.getSrcType().getShape() ==
                     reshape.getSrcType().getShape()
             ? other.getSrc()
             : Value();
}

/// Returns true if `operand` is one element for all others, also without the
/// reshape.
static bool isOneElement(Value operand, tensor::ExpandShapeOp reshape) {
  RankedTensorType type = typeOf(operand);
  return type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getRank() <= reshape.getSrcType().getRank();
}

/// Returns true if the dimensions of `operand` can be joined as the reshape
/// splits them. None is broadcast along a part of a joined dimension.
static bool isJoinable(Value operand, tensor::ExpandShapeOp reshape) {
  if (sourceOf(operand, reshape) || isOneElement(operand, reshape))
    return true;
  RankedTensorType type = typeOf(operand), to = reshape.getResultType();
  const int64_t missing = to.getRank() - type.getRank();
  if (missing > 0 && type.getNumDynamicDims() > 1)
    return false;
  // Each dimension of the result, or 1 if the operand lacks it.
  SmallVector<int64_t> sizes(size_t(missing), 1);
  llvm::append_range(sizes, type.getShape());
  auto isOne = [&](int64_t dim) { return sizes[size_t(dim)] == 1; };
  auto isWhole = [&](int64_t dim) {
    return !to.isDynamicDim(unsigned(dim)) &&
           sizes[size_t(dim)] == to.getDimSize(unsigned(dim));
  };
  return llvm::all_of(reshape.getReassociationIndices(),
                      [&](const ReassociationIndices &group) {
                        return group.size() == 1 ||
                               llvm::all_of(group, isOne) ||
                               llvm::all_of(group, isWhole);
                      });
}

/// Returns the operand in the shape in front of `reshape`.
static Value join(OpBuilder &b, Value operand, tensor::ExpandShapeOp reshape) {
  if (Value source = sourceOf(operand, reshape))
    return source;
  if (isOneElement(operand, reshape))
    return operand;
  Value full =
      support::expandRank(b, operand, reshape.getResultType().getRank());
  return tensor::CollapseShapeOp::create(b, reshape.getLoc(), full,
                                         reshape.getReassociationIndices());
}

/// Returns the reshape of a kernel's result that `op` reads. All other users of
/// the kernel and of the reshape are elementwise, too.
tensor::ExpandShapeOp SinkReshapesPass::reshapeBefore(Operation *op) const {
  for (Value operand : op->getOperands()) {
    auto reshape = operand.getDefiningOp<tensor::ExpandShapeOp>();
    if (!reshape || reshape.getResultType().getShape() !=
                        typeOf(op->getResult(0)).getShape())
      continue;
    Operation *producer = reshape.getSrc().getDefiningOp();
    if (!producer || producer->getBlock() != op->getBlock() ||
        !(isa<kernel::EpilogueOpInterface>(producer) ||
          moved.contains(producer)))
      continue;
    const bool isOnlyMoved =
        llvm::all_of(producer->getUsers(), [&](Operation *user) {
          return user == reshape || moved.contains(user);
        });
    if (isOnlyMoved && llvm::all_of(reshape->getUsers(),
                                    llvm::IsaPred<nn::ElementwiseOpInterface>))
      return reshape;
  }
  return {};
}

/// Moves `op` in front of the reshape of one of its operands.
bool SinkReshapesPass::sink(Operation *op) {
  tensor::ExpandShapeOp reshape = reshapeBefore(op);
  if (!reshape || !llvm::all_of(op->getOperands(), [&](Value operand) {
        return isJoinable(operand, reshape);
      }))
    return false;
  OpBuilder b(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(join(b, operand, reshape));
  Operation *before = b.clone(*op);
  before->setOperands(operands);
  RankedTensorType type = typeOf(op->getResult(0));
  before->getResult(0).setType(type.clone(reshape.getSrcType().getShape()));
  moved.insert(before);
  auto after = tensor::ExpandShapeOp::create(
      b, op->getLoc(), type, before->getResult(0),
      reshape.getReassociationIndices(), reshape.getMixedOutputShape());
  op->getResult(0).replaceAllUsesWith(after);
  llvm::SetVector<Operation *> reshapes;
  for (Value operand : op->getOperands())
    if (auto other = operand.getDefiningOp<tensor::ExpandShapeOp>())
      reshapes.insert(other);
  op->erase();
  // An unused reshape counts as another user of the kernel.
  for (Operation *other : reshapes)
    if (other->use_empty())
      other->erase();
  return true;
}

void SinkReshapesPass::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation()->walk(
      [&](nn::ElementwiseOpInterface op) { ops.push_back(op); });
  for (Operation *op : ops)
    sunk += sink(op);
}
