//===- FuseEpilogues.cpp - kernel-fuse-epilogues --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelInterfaces.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/kernel/EpilogueFusion.h"
#include "passes/kernel/Passes.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Producers.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "passes/kernel/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

/// The most operands of an epilogue, which is more than models need. A limit
/// exists because each operand is another memory stream.
static constexpr unsigned kMaxOperands = 6;

/// Returns true if the epilogue of `kernel` can load and store elements of
/// `value`.
static bool isReadable(kernel::EpilogueOpInterface kernel, Value value) {
  return kernel.canEpilogueRead(typeOf(value).getElementType());
}

/// Returns true if `other` broadcasts to the result of `kernel` in every run.
static bool broadcastsTo(Value other, kernel::EpilogueOpInterface kernel,
                         shape::SameSizes &sizes) {
  Value result = kernel->getResult(0);
  RankedTensorType from = typeOf(other), to = typeOf(result);
  if (!isReadable(kernel, other) || from.getRank() > to.getRank())
    return false;
  int64_t missing = to.getRank() - from.getRank();
  for (int64_t i = 0; i < from.getRank(); ++i) {
    if (from.getDimSize(i) == 1 ||
        (!from.isDynamicDim(i) &&
         from.getDimSize(i) == to.getDimSize(missing + i)))
      continue;
    if (!sizes.isSame(other, i, result, missing + i))
      return false;
  }
  return true;
}

/// The most ops that are recomputed: more than a dequantization has, but cheap.
static constexpr size_t kMaxWidening = 4;

/// Returns the elementwise ops that compute `value` from a tensor of smaller
/// elements, in order. Each op has one operand besides scalar constants. The
/// epilogue then reads the small tensor. Returns an empty list if there is no
/// such tensor.
static SmallVector<Operation *> wideningOf(Value value,
                                           kernel::EpilogueOpInterface kernel) {
  auto bitsOf = [](Value value) {
    return typeOf(value).getElementType().getIntOrFloatBitWidth();
  };
  SmallVector<Operation *> ops;
  // A number of a row would be converted again for each vector of columns.
  if (typeOf(value).getRank() > 0 && typeOf(value).getShape().back() == 1 &&
      typeOf(kernel->getResult(0)).getShape().back() != 1)
    return {};
  for (Value at = value; ops.size() < kMaxWidening;) {
    Operation *op = at.getDefiningOp();
    if (!isa_and_nonnull<nn::AddOp, nn::CastOp, nn::MulOp, nn::SubOp>(op))
      return {};
    Value source;
    for (Value operand : op->getOperands()) {
      if (nn::getSplat(operand))
        continue;
      if (source || typeOf(operand).getShape() != typeOf(value).getShape())
        return {};
      source = operand;
    }
    if (!source)
      return {};
    ops.push_back(op);
    at = source;
    if (bitsOf(at) < bitsOf(value) && isReadable(kernel, at)) {
      std::reverse(ops.begin(), ops.end());
      return ops;
    }
  }
  return {};
}

/// Returns the operand of `op` that is not a scalar constant.
static Value sourceOf(Operation *op) {
  return *llvm::find_if(op->getOperands(),
                        [](Value operand) { return !nn::getSplat(operand); });
}

/// Builds the scalar computation of `op`, which wideningOf has returned, for
/// the element `operand`.
static Value buildBody(OpBuilder &b, Operation *op, Value operand) {
  SmallVector<Value> args;
  for (Value each : op->getOperands()) {
    Type type = nn::signless(typeOf(each).getElementType());
    std::optional<double> number = nn::getSplat(each);
    args.push_back(number ? nn::scalar(b, op->getLoc(), type, *number)
                          : operand);
  }
  return cast<nn::ElementwiseOpInterface>(op).buildScalar(b, args);
}

/// Returns true if the condition `op` is only used to choose between two scalar
/// constants. The choice is then fused into the epilogue, and the condition is
/// not stored.
static bool isOfChoice(Operation *op, kernel::EpilogueOpInterface kernel) {
  Value result = op->getResult(0);
  if (!typeOf(result).getElementType().isInteger(1) || !result.hasOneUse())
    return false;
  auto choice = dyn_cast<nn::SelectOp>(*result.user_begin());
  return choice && choice->getBlock() == op->getBlock() &&
         typeOf(choice).getShape() == typeOf(result).getShape() &&
         isReadable(kernel, choice) && choice->getOperand(0) == result &&
         nn::getSplat(choice->getOperand(1)) &&
         nn::getSplat(choice->getOperand(2));
}

namespace {

/// Epilogues as regions of `EpilogueOpInterface`.
class RegionForm : public kernel::EpilogueForm {
public:
  explicit RegionForm(func::FuncOp function) : sizes(function) {}

  bool isKernel(Operation *op) const override {
    return isa<kernel::EpilogueOpInterface>(op);
  }
  bool holds(Operation *kernel, Type element) const override {
    return cast<kernel::EpilogueOpInterface>(kernel).canEpilogueRead(element);
  }
  bool append(const kernel::EpilogueSteps &steps,
              support::Order &order) override;
  void forget(Operation *step) override { sizes.forget(step); }

private:
  shape::SameSizes sizes;
};

struct FuseEpiloguesPass : ingot::impl::FuseEpiloguesBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    RegionForm form(getOperation());
    fused += kernel::fuseEpilogues(getOperation(), form);
  }
};

} // namespace

/// Builds the scalar computation of `steps`, with block arguments for their
/// operands. `values` maps each value to its scalar. Returns true if all steps
/// have a scalar form.
static bool buildSteps(Block &block, ArrayRef<Operation *> steps,
                       DenseMap<Value, Value> &values) {
  OpBuilder builder(steps.front()->getContext());
  builder.setInsertionPointToEnd(&block);
  return llvm::all_of(steps, [&](Operation *step) {
    SmallVector<Value> args;
    for (Value operand : step->getOperands()) {
      Value &arg = values[operand];
      if (!arg)
        arg = block.addArgument(nn::signless(typeOf(operand).getElementType()),
                                step->getLoc());
      args.push_back(arg);
    }
    Value built =
        cast<nn::ElementwiseOpInterface>(step).buildScalar(builder, args);
    Value result = step->getResult(0);
    values[result] = built;
    return built &&
           built.getType() == nn::signless(typeOf(result).getElementType());
  });
}

bool RegionForm::append(const kernel::EpilogueSteps &steps, support::Order &) {
  auto kernel = cast<kernel::EpilogueOpInterface>(steps.kernel);
  Operation *op = steps.getLast();
  Value result = steps.getResult();
  RankedTensorType type = typeOf(op->getResult(0));
  // Dst may be replaced by a tensor of another type only if it is a
  // tensor.empty.
  bool isConverted = type != result.getType();
  // Read the index of dst again each time, because it changes with the number
  // of the epilogue's operands.
  auto dst = [&]() -> OpOperand & {
    return *cast<DestinationStyleOpInterface>(*kernel).getDpsInitOperand(0);
  };
  if (isConverted &&
      ((!isReadable(kernel, op->getResult(0)) && !isOfChoice(op, kernel)) ||
       !isa_and_nonnull<tensor::EmptyOp>(dst().get().getDefiningOp())))
    return false;
  size_t count = kernel.getEpilogueOperands().size();
  for (Value operand : steps.operands) {
    if (nn::getSplat(operand))
      continue;
    if (++count > kMaxOperands || !broadcastsTo(operand, kernel, sizes))
      return false;
  }
  // Try the steps in a scratch block first, so that a step without a scalar
  // form leaves nothing behind.
  Block scratch;
  DenseMap<Value, Value> built;
  if (!buildSteps(scratch, steps.ops, built))
    return false;

  Location loc = op->getLoc();
  Block &body = kernel.getEpilogue().front();
  Operation *yield = body.getTerminator();
  OpBuilder inside(yield), outside(op);
  IRMapping values;
  values.map(built[result], yield->getOperand(0));
  for (Value operand : steps.operands) {
    Value argument = built[operand];
    if (std::optional<double> number = nn::getSplat(operand)) {
      values.map(argument,
                 support::scalar(inside, loc, argument.getType(), *number));
      continue;
    }
    SmallVector<Operation *> widening = wideningOf(operand, kernel);
    Value source = widening.empty() ? operand : sourceOf(widening.front());
    kernel.getEpilogueOperandsMutable().append(
        support::expandRank(outside, source, typeOf(result).getRank()));
    Value read =
        body.addArgument(nn::signless(typeOf(source).getElementType()), loc);
    for (Operation *op : widening)
      read = buildBody(inside, op, read);
    values.map(argument, read);
  }
  for (Operation &step : scratch)
    inside.clone(step, values);
  yield->setOperand(0, values.lookup(built[op->getResult(0)]));
  if (isConverted) {
    OpBuilder before(kernel);
    dst().set(tensor::EmptyOp::create(
        before, loc, tensor::getMixedSizes(before, loc, dst().get()),
        type.getElementType()));
    result.setType(type);
  }
  return true;
}
