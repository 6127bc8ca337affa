//===- EpilogueFusion.cpp - ops that move into kernels --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/EpilogueFusion.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::kernel;
using support::Order;
using support::typeOf;

/// Returns true if `op` widens `bytes` and only a matrix transpose uses it. The
/// transpose then reads the bytes, which take a quarter of the memory, and
/// widens them.
static bool isWidenedAndTransposed(Operation *op, Value bytes) {
  if (typeOf(bytes).getElementTypeBitWidth() != 8)
    return false;
  auto isNumberOr = [](Value value) {
    return [value](Value operand) {
      return operand == value || nn::getSplat(operand);
    };
  };
  for (Value at = bytes; isa<nn::ElementwiseOpInterface>(op);
       op = *at.user_begin()) {
    if (!llvm::all_of(op->getOperands(), isNumberOr(at)))
      return false;
    at = op->getResult(0);
    if (!at.hasOneUse())
      return false;
  }
  auto transpose = dyn_cast<nn::TransposeOp>(op);
  return transpose && typeOf(transpose).getElementTypeBitWidth() == 32 &&
         transpose.getPerm().back() != int64_t(transpose.getPerm().size()) - 1;
}

/// The most steps of an epilogue. Activations of several ops, each with a
/// quantization, have fewer.
static constexpr size_t kMaxSteps = 32;

/// Returns the ops from the result of `kernel` to `op`, in order. Several of
/// these ops may read the result, as x in x f(x). Returns an empty list if
/// other ops read the result.
static SmallVector<Operation *> stepsTo(Operation *op, Operation *kernel,
                                        const EpilogueForm &form,
                                        const Order &order) {
  Value result = kernel->getResult(0);
  llvm::SetVector<Operation *> steps;
  auto addUsers = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (user != op)
        steps.insert(user);
  };
  addUsers(result);
  for (size_t i = 0; i < steps.size(); ++i) {
    Operation *step = steps[i];
    if (!isa<nn::ElementwiseOpInterface>(step) || steps.size() > kMaxSteps ||
        step->getBlock() != op->getBlock() || !order.isBefore(step, op) ||
        typeOf(step->getResult(0)).getShape() != typeOf(result).getShape() ||
        !form.holds(kernel, typeOf(step->getResult(0)).getElementType()))
      return {};
    addUsers(step->getResult(0));
  }
  SmallVector<Operation *> sorted = steps.takeVector();
  llvm::sort(sorted,
             [&](Operation *a, Operation *b) { return order.isBefore(a, b); });
  sorted.push_back(op);
  return sorted;
}

/// Returns the values that `ops` read, except `result` and their own results.
static SmallVector<Value> operandsOf(ArrayRef<Operation *> ops, Value result) {
  llvm::SetVector<Value> operands;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (operand != result &&
          !llvm::is_contained(ops, operand.getDefiningOp()))
        operands.insert(operand);
  return operands.takeVector();
}

/// Returns true if `op` only spreads smaller tensors to the shape of `result`,
/// as a product of rows and columns does. An epilogue that computes `op` reads
/// less memory than one that reads the result of `op`.
static bool isSpread(Operation *op, Value result) {
  if (!isa_and_nonnull<nn::ElementwiseOpInterface>(op) ||
      !op->getResult(0).hasOneUse() ||
      op->getBlock() != result.getParentBlock() ||
      typeOf(op->getResult(0)).getShape() != typeOf(result).getShape())
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    RankedTensorType type = typeOf(operand);
    return nn::getConstant(operand) ||
           (type.getRank() > 0 && type.getShape().back() == 1);
  });
}

/// Adds the ops to `steps` that spread their operands.
static bool addSpread(EpilogueSteps &steps, Value result) {
  SmallVector<Operation *> spread;
  for (Value operand : steps.operands)
    if (isSpread(operand.getDefiningOp(), result))
      spread.push_back(operand.getDefiningOp());
  if (spread.empty())
    return false;
  steps.ops.insert(steps.ops.begin(), spread.begin(), spread.end());
  steps.operands = operandsOf(steps.ops, result);
  return true;
}

/// Moves `op` and the ops between `kernel` and `op` into the epilogue of
/// `kernel`. The kernel moves to the place of `op`.
static bool fuseInto(Operation *kernel, Operation *op, EpilogueForm &form,
                     Order &order) {
  Value result = kernel->getResult(0);
  if (typeOf(op->getResult(0)).getShape() != typeOf(result).getShape() ||
      kernel->getBlock() != op->getBlock() ||
      isWidenedAndTransposed(op, result))
    return false;
  EpilogueSteps steps{kernel, stepsTo(op, kernel, form, order), {}};
  if (steps.ops.empty())
    return false;
  steps.operands = operandsOf(steps.ops, result);
  EpilogueSteps whole = steps;
  if (addSpread(whole, result) && form.append(whole, order))
    steps = whole;
  else if (!form.append(steps, order))
    return false;
  ArrayRef<Operation *> before = ArrayRef(steps.ops).drop_back();
  SmallVector<Location> locations = {kernel->getLoc()};
  for (Operation *step : before)
    locations.push_back(step->getLoc());
  kernel->setLoc(FusedLoc::get(op->getContext(), locations));
  form.forget(op);
  order.replaceByProducer(kernel, op);
  for (Operation *step : llvm::reverse(before)) {
    form.forget(step);
    order.erase(step);
  }
  return true;
}

/// Returns the kernels that compute operands of `op`, the last kernel first. If
/// the last kernel fuses `op`, no other kernel runs between them, so its result
/// need not be kept.
static SmallVector<Operation *>
kernelsBefore(Operation *op, const EpilogueForm &form, const Order &order) {
  SmallVector<Operation *> kernels;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && form.isKernel(producer))
      kernels.push_back(producer);
  llvm::stable_sort(kernels, [&](Operation *a, Operation *b) {
    return a != b && a->getBlock() == b->getBlock() && order.isBefore(b, a);
  });
  return kernels;
}

/// Visits ops in order, so that a chain of users is fused op by op.
int64_t kernel::fuseEpilogues(Operation *root, EpilogueForm &form) {
  Order order(root);
  int64_t count = 0;
  root->walk([&](nn::ElementwiseOpInterface op) {
    count += llvm::any_of(kernelsBefore(op, form, order), [&](Operation *each) {
      return fuseInto(each, op, form, order);
    });
  });
  return count;
}
