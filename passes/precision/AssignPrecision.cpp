//===- AssignPrecision.cpp - nn-assign-precision --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/precision/Passes.h"
#include "passes/support/Rules.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "passes/precision/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Returns true if `op` is a matrix product whose two operands are not
/// constant.
static bool isOfComputed(Operation *op) {
  auto product = dyn_cast<nn::MatMulOp>(op);
  return product && !nn::getConstant(product.getA()) &&
         !nn::getConstant(product.getB());
}

namespace {

struct AssignPrecisionPass
    : ingot::impl::AssignPrecisionBase<AssignPrecisionPass> {
  using AssignPrecisionBase::AssignPrecisionBase;

  void runOnOperation() override {
    policy = &Policy::of(getOperation());
    if (computedOnly && !policy->prefersBF16(getOperation()))
      return;
    form = policy->halfPrecisionForm(getOperation(), half);
    const bool isBF16 = form == HalfPrecisionForm::bf16;
    // With `computedOnly` all other products are int8, and the keep rules refer
    // to that precision.
    FailureOr<KeepRules> rules = KeepRules::parse(
        getOperation(), keep,
        stringifyPrecision(computedOnly ? Precision::int8 : half));
    if (failed(rules))
      return signalPassFailure();
    IngotDialect::PrecisionAttrHelper precision(&getContext());
    const bool isOfWeights =
        form == HalfPrecisionForm::f16 || form == HalfPrecisionForm::f16Weights;
    auto given =
        PrecisionAttr::get(&getContext(), isBF16        ? Precision::bf16
                                          : isOfWeights ? Precision::fp16
                                                        : Precision::tf32);
    if (isOfWeights)
      allWeights = countProductWeights(getOperation());
    bool isAnyGiven = false, isAnyLeft = false;
    getOperation()->walk([&](Operation *op) {
      if (!isa<nn::ConvOp, nn::MatMulOp>(op) ||
          (computedOnly && !isOfComputed(op)) ||
          (isOfWeights && !nn::getConstant(op->getOperand(1))) ||
          precision.isAttrPresent(op))
        return;
      auto type = cast<ShapedType>(op->getResult(0).getType());
      std::optional<bool> rule = rules->find({op->getLoc()});
      isAnyLeft |= !rule;
      if (!type.getElementType().isF32())
        return;
      Answer<bool> answer =
          rule ? Answer<bool>{!*rule, "is named by a rule"} : ask(op);
      if (!record(op, Question::precision, answer, nameOfForm(), "float32"))
        return;
      precision.setAttr(op, given);
      isAnyGiven = true;
    });
    if (form == HalfPrecisionForm::f16Weights && isAnyLeft && !isAnyGiven)
      emitRemark(getOperation().getLoc())
          << "no weights are stored as float16, for none would be multiplied "
             "as fast as float32: a rule '*="
          << stringifyPrecision(half) << "' stores them all the same";
  }

private:
  Answer<bool> ask(Operation *op) const {
    switch (form) {
    case HalfPrecisionForm::bf16:
      return policy->multiplyBF16(op);
    case HalfPrecisionForm::f16:
      return policy->multiplyF16(op);
    case HalfPrecisionForm::tf32:
      return policy->multiplyTF32(op);
    case HalfPrecisionForm::f16Weights:
      return policy->storeF16Weights(op, allWeights);
    }
    llvm_unreachable("unknown form");
  }
  StringRef nameOfForm() const {
    return form == HalfPrecisionForm::bf16   ? "bfloat16"
           : form == HalfPrecisionForm::f16  ? "float16"
           : form == HalfPrecisionForm::tf32 ? "tf32"
                                             : "float16 weights";
  }

  const Policy *policy = nullptr;
  HalfPrecisionForm form = HalfPrecisionForm::bf16;
  /// Number of weights of all products of the model.
  int64_t allWeights = 0;
};

} // namespace
