//===- RecognizeFakeQuantize.cpp - nn-recognize-fake-quantize -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/ValueGrid.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_RECOGNIZEFAKEQUANTIZE
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// Strips the last steps of fake quantization: the multiplication by the scale,
/// and the rounding before it. nn.quantize does both. Returns the remaining
/// value, and sets `step` to the step of that value.
static Value withoutScale(Value value, double &step) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<nn::MulOp, nn::DivOp>(op))
      break;
    bool isRight = bool(nn::getSplat(op->getOperand(1)));
    std::optional<double> factor = nn::getSplat(op->getOperand(isRight));
    Value x = op->getOperand(!isRight);
    if (!factor || *factor <= 0 || (isa<nn::DivOp>(op) && !isRight) ||
        x.getType() != value.getType())
      break;
    step = isa<nn::MulOp>(op) ? step / *factor : step * *factor;
    value = x;
  }
  if (std::abs(step - 1) > 1e-6)
    return value;
  step = 1;
  auto round = value.getDefiningOp<nn::RoundOp>();
  return round ? round.getX() : value;
}

/// Inserts a quantize/dequantize pair between `value`, which lies on `grid`,
/// and its users.
static void makeBytes(Value value, const ValueGrid &grid) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  Type byte = builder.getIntegerType(8, /*isSigned=*/false);
  Scale scale = grid.bytes(), stripped = scale;
  Value numbers = withoutScale(value, stripped.scale);
  Value bytes = makeQuantize(builder, loc, numbers, byte, stripped);
  Value floats = makeDequantize(builder, loc, bytes,
                                typeOf(value).getElementType(), scale);
  value.replaceUsesWithIf(floats, [&](OpOperand &use) {
    return use.getOwner() != bytes.getDefiningOp();
  });
}

/// Quantizes the tensors that hold the elements of `value`. Finds them by going
/// up through ops that only move elements.
static void makeSourcesBytes(ValueGridAnalysis &grids, Value value) {
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value source = work.pop_back_val();
    Operation *op = source.getDefiningOp();
    if (isa<nn::DequantizeOp>(op))
      continue;
    if (!movesValues(op))
      makeBytes(source, *grids.gridOf(source));
    else if (isa<nn::ConcatOp>(op))
      llvm::append_range(work, op->getOperands());
    else
      work.push_back(op->getOperand(0));
  }
}

namespace {

struct RecognizeFakeQuantizePass
    : ingot::impl::RecognizeFakeQuantizeBase<RecognizeFakeQuantizePass> {
  using RecognizeFakeQuantizeBase::RecognizeFakeQuantizeBase;

  void runOnOperation() override {
    // Rules for other precisions do not matter here: the model itself defines
    // the quantization.
    const KeepRules rules = KeepRules::again(keep);
    WeightQuantizer weights(WeightForm{});
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      ValueGridAnalysis grids;
      SmallVector<Operation *> products =
          findProducts(function, [&](Operation *op) {
            std::optional<ValueGrid> grid = grids.gridOf(op->getOperand(0));
            return grid && grid->fitsByte() && !rules.keeps(op) &&
                   quantizeWeights(op->getOperand(weightsOperand(op)),
                                   weightsAxis(op), /*bits=*/8)
                       .isExact;
          });
      for (Operation *product : products) {
        makeSourcesBytes(grids, product->getOperand(0));
        // The call cannot fail, because only a rounding can cause an error, and
        // there are no roundings.
        (void)weights.quantize(product);
        ++recognized;
      }
    }
  }
};

} // namespace
