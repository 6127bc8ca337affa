//===- InsertDynamicQuantize.cpp - nn-insert-dynamic-quantize -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/AttachedCalibration.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/DynamicScale.h"
#include "passes/support/Rules.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_INSERTDYNAMICQUANTIZE
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct InsertDynamicQuantizePass
    : ingot::impl::InsertDynamicQuantizeBase<InsertDynamicQuantizePass> {
  using InsertDynamicQuantizeBase::InsertDynamicQuantizeBase;

  void runOnOperation() override;

private:
  Value getPair(Value value, support::RangeOf range);

  /// Quantize/dequantize pairs, by the value and its RangeOf. Products that
  /// read one value in the same way share a pair.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> pairs;
};

} // namespace

/// Returns which elements of a product's data share a range. Rows of matrices
/// are often tokens, and a few tokens are far larger than the others. A single
/// row needs no scale for each.
static support::RangeOf rangeFor(Operation *product) {
  auto matmul = dyn_cast<nn::MatMulOp>(product);
  if (!matmul || matmul.getTransposeA())
    return support::RangeOf::tensor;
  ArrayRef<int64_t> rows = support::shapeOf(matmul.getA()).drop_back();
  return support::productOf(rows) == 1 ? support::RangeOf::tensor
                                       : support::RangeOf::row;
}

/// Returns the quantize/dequantize pair of `value`, whose scale each run
/// computes.
Value InsertDynamicQuantizePass::getPair(Value value, support::RangeOf range) {
  Value &pair = pairs[{value, unsigned(range)}];
  if (pair)
    return pair;
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(value);
  pair = support::roundDynamically(builder, value.getLoc(), value, range);
  ++quantized;
  return pair;
}

void InsertDynamicQuantizePass::runOnOperation() {
  pairs.clear();
  FailureOr<KeepRules> rules =
      KeepRules::parse(getOperation(), keep);
  if (failed(rules))
    return signalPassFailure();
  quantize::WeightQuantizer weights(
      quantize::weightFormFor(getOperation(), int8Weights));
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    auto isAny = [](Operation *) { return true; };
    SmallVector<Operation *> all;
    if (!innerOnly) {
      all = quantize::findProducts(function, isAny);
      quantize::recordBroadcastBatches(function);
    }
    all.append(quantize::findInnerProducts(function, isAny));
    for (auto &[product, answer] : quantize::answerDynamicBytes(all, *rules)) {
      if (!record(product, Question::precision, answer, "int8", "float32"))
        continue;
      product->setOperand(0,
                          getPair(product->getOperand(0), rangeFor(product)));
      // The call cannot fail, because only a rounding can cause an error, and
      // there are no roundings.
      (void)weights.quantize(product);
    }
  }
}
