//===- PromoteFloats.cpp - nn-promote-floats ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Evaluate.h"
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace ingot {
#define GEN_PASS_DEF_PROMOTEFLOATS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Returns true for tensors of f16 or bf16.
static bool isHalf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor &&
         (tensor.getElementType().isF16() || tensor.getElementType().isBF16());
}

/// Returns true if `op` only moves elements. Its operands then stay in 16 bits.
static bool isMovement(Operation *op) {
  if (auto scatter = dyn_cast<nn::ScatterElementsOp>(op))
    return scatter.getReduction() == nn::ScatterReduction::none;
  if (auto scatter = dyn_cast<nn::ScatterNDOp>(op))
    return scatter.getReduction() == nn::ScatterReduction::none;
  return isa<nn::BroadcastToOp, nn::ConcatOp, nn::GatherElementsOp,
             nn::GatherNDOp, nn::GatherOp, nn::PadOp, nn::ReshapeOp,
             nn::SliceOp, nn::TransposeOp>(op);
}

namespace {

struct PromoteFloatsPass : ingot::impl::PromoteFloatsBase<PromoteFloatsPass> {
  using PromoteFloatsBase::PromoteFloatsBase;

  void runOnOperation() override;

private:
  void promote(Operation *op);
  void leave(Operation *op);
  Value widened(Value value);
  Value rounded(Operation *user, Value value);

  /// Results that are f32 now, with the types that the model declares.
  llvm::DenseMap<Value, Type> declared;
  /// The f32 versions of values that are stored in 16 bits.
  llvm::DenseMap<Value, Value> wide;
  /// Number of weights of all products of the model.
  int64_t allWeights = 0;
  bool multipliesBF16 = false;
};

} // namespace

/// Returns `value` as f32. Constants of any size are widened at compile time,
/// because each run would widen weights again.
Value PromoteFloatsPass::widened(Value value) {
  if (!isHalf(value.getType()))
    return value;
  Value &known = wide[value];
  if (known)
    return known;
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(value);
  auto type = cast<RankedTensorType>(value.getType());
  auto cast = nn::CastOp::create(builder, value.getLoc(),
                                 type.clone(builder.getF32Type()), value);
  if (ElementsAttr constant =
          nn::evaluate(cast, std::numeric_limits<int64_t>::max())) {
    known = arith::ConstantOp::create(builder, value.getLoc(),
                                      ::cast<TypedAttr>(constant));
    cast.erase();
  } else {
    known = cast;
  }
  return known;
}

/// Returns `value` in its declared type, for `user`. Places the cast before all
/// loops that do not compute `value`, so that a loop does not round the whole
/// tensor in each step.
Value PromoteFloatsPass::rounded(Operation *user, Value value) {
  auto type = declared.find(value);
  if (type == declared.end())
    return value;
  OpBuilder builder(value.getParentBlock()->findAncestorOpInBlock(*user));
  return nn::CastOp::create(builder, value.getLoc(), type->second, value);
}

void PromoteFloatsPass::promote(Operation *op) {
  bool isProduct = isa<nn::ConvOp, nn::MatMulOp>(op);
  auto isDeclaredBF16 = [&](Value value) {
    auto type = declared.find(value);
    return getElementTypeOrSelf(type == declared.end() ? value.getType()
                                                       : type->second)
        .isBF16();
  };
  auto setPrecision = [&](Precision precision) {
    IngotDialect::PrecisionAttrHelper(&getContext())
        .setAttr(op, PrecisionAttr::get(&getContext(), precision));
  };
  // If both factors are declared as bf16, multiply bf16 if the device has
  // kernels for it. Otherwise keep 16-bit weights in 16 bits if this is not
  // slower.
  if (isProduct && multipliesBF16 && isDeclaredBF16(op->getOperand(0)) &&
      isDeclaredBF16(op->getOperand(1))) {
    record(op, Question::precision, "bfloat16",
           "has factors that the model declares as bfloat16");
    setPrecision(Precision::bf16);
  } else if (isProduct &&
             isa_and_present<arith::ConstantOp>(
                 op->getOperand(1).getDefiningOp()) &&
             isHalf(op->getOperand(1).getType()) &&
             record(op, Question::precision,
                    Policy::of(op).storeF16Weights(op, allWeights),
                    "float16 weights", "float32")) {
    setPrecision(Precision::fp16);
  }
  for (OpOperand &operand : op->getOpOperands())
    operand.set(widened(operand.get()));
  for (Value result : op->getResults()) {
    if (!isHalf(result.getType()))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    declared[result] = type;
    result.setType(type.clone(Float32Type::get(&getContext())));
  }
  ++promoted;
}

/// Passes operands in their declared types to an op that is not computed in
/// f32.
void PromoteFloatsPass::leave(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    operand.set(rounded(op, operand.get()));
}

void PromoteFloatsPass::runOnOperation() {
  allWeights = countProductWeights(getOperation());
  multipliesBF16 = Policy::of(getOperation())
                       .halfPrecisionForm(getOperation(), Precision::bf16) ==
                   HalfPrecisionForm::bf16;
  SmallVector<Operation *> ops;
  getOperation().getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (isa<tensor::DimOp>(op))
      continue;
    // The model's own casts operate on the declared types.
    bool isKnown =
        isa<nn::NNDialect>(op->getDialect()) && !isa<nn::CastOp>(op);
    bool isPromoted = llvm::any_of(op->getOperands(), [&](Value operand) {
      return declared.contains(operand);
    });
    bool hasHalf = isPromoted || llvm::any_of(op->getOperandTypes(), isHalf) ||
                   llvm::any_of(op->getResultTypes(), isHalf);
    if (!hasHalf)
      continue;
    if (isKnown && (isPromoted || !isMovement(op)))
      promote(op);
    else if (isPromoted)
      leave(op);
  }
  declared.clear();
  wide.clear();
}
