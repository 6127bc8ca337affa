//===- AssignPrecision.cpp - nn-assign-precision --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/policy/HalfProducts.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/precision/Passes.h"
#include "passes/support/Rules.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "passes/precision/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Whether `op` is a matrix product whose factors are no constants.
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
    if (computedOnly && !cpu::allMultiplyBF16(getOperation()))
      return;
    multipliesBF16 = cpu::someMultiplyBF16(getOperation());
    halfSums = cpu::addsHalfSums(getOperation(), half);
    // What is not computed is bytes, which rules then speak of.
    FailureOr<KeepRules> rules = KeepRules::parse(
        getOperation(), keep,
        stringifyPrecision(computedOnly ? Precision::int8 : half));
    if (failed(rules))
      return signalPassFailure();
    IngotDialect::PrecisionAttrHelper precision(&getContext());
    auto given = PrecisionAttr::get(
        &getContext(), storesF16() ? Precision::fp16 : Precision::bf16);
    if (storesF16())
      allWeights = cpu::countWeights(getOperation());
    bool isAnyGiven = false, isAnyLeft = false;
    getOperation()->walk([&](Operation *op) {
      if (!isa<nn::ConvOp, nn::MatMulOp>(op) ||
          (computedOnly && !isOfComputed(op)) ||
          (storesF16() && !nn::getConstant(op->getOperand(1))) ||
          precision.isAttrPresent(op))
        return;
      std::optional<bool> rule = rules->find({op->getLoc()});
      isAnyLeft |= !rule;
      if (rule.value_or(!isWorth(op)))
        return;
      auto type = cast<ShapedType>(op->getResult(0).getType());
      if (!type.getElementType().isF32())
        return;
      precision.setAttr(op, given);
      isAnyGiven = true;
    });
    if (storesF16() && !halfSums && isAnyLeft && !isAnyGiven)
      emitRemark(getOperation().getLoc())
          << "no weights are stored as float16, for none would be multiplied "
             "as fast as float32: a rule '*="
          << stringifyPrecision(half) << "' stores them all the same";
  }

private:
  bool storesF16() const {
    return half == Precision::fp16 || !multipliesBF16;
  }
  bool isWorth(Operation *op) const {
    if (storesF16() && !halfSums)
      return cpu::isWorthHalfWeights(op, allWeights);
    auto isWorthIt = storesF16() ? cpu::isWorthHalfSums : cpu::isWorthBF16;
    return isWorthIt(op) && !cpu::isDepthwiseAlone(op, isWorthIt);
  }

  /// Of the model.
  int64_t allWeights = 0;
  bool multipliesBF16 = false, halfSums = false;
};

} // namespace
