//===- CorrectBiases.cpp - nn-correct-biases ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/AttachedCalibration.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot {
#define GEN_PASS_DEF_CORRECTBIASES
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct CorrectBiasesPass : ingot::impl::CorrectBiasesBase<CorrectBiasesPass> {
  using CorrectBiasesBase::CorrectBiasesBase;
  void runOnOperation() override;

private:
  LogicalResult correct(Operation *op, ArrayRef<float> values, StringRef file);
};

} // namespace

/// Subtracts the error from the bias. If there is no bias, adds a bias that is
/// the negative error.
LogicalResult CorrectBiasesPass::correct(Operation *op, ArrayRef<float> values,
                                         StringRef file) {
  const int64_t channels = quantize::countOutputs(op);
  if (int64_t(values.size()) != channels)
    return op->emitError() << "expects corrections of " << channels
                           << " channels, but '" << printable(file) << "' has "
                           << values.size();
  OpBuilder builder(op);
  std::vector<double> bias(values.size());
  const bool hasBias = op->getNumOperands() > 2;
  Location loc = op->getLoc();
  RankedTensorType type = RankedTensorType::get(channels, builder.getF32Type());
  if (hasBias) {
    std::optional<std::vector<double>> old =
        nn::getConstantDoubles(op->getOperand(2));
    auto given = cast<RankedTensorType>(op->getOperand(2).getType());
    // Do not change a bias that is computed, or that does not have one value
    // per channel.
    if (!old || given.getRank() != 1 || given.getDimSize(0) != channels)
      return success();
    bias = std::move(*old);
    loc = op->getOperand(2).getLoc();
  }
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] -= double(values[i]);
  Value corrected = nn::makeConstant(builder, loc, type, bias);
  if (hasBias)
    op->setOperand(2, corrected);
  else
    op->insertOperands(2, corrected);
  ++this->corrected;
  return success();
}

void CorrectBiasesPass::runOnOperation() {
  CalibrationAttr calibration = quantize::findCalibration(getOperation());
  if (!calibration)
    return;
  llvm::StringMap<ArrayRef<float>> corrections;
  for (ChannelValuesAttr bias : calibration.getBiases())
    corrections[bias.getName()] = bias.getValues();
  if (corrections.empty())
    return;
  bool failedOnce = false;
  getOperation().walk([&](Operation *op) {
    if (!quantize::isProduct(op))
      return;
    Value weights = op->getOperand(quantize::weightsOperand(op));
    // The weights of several batches are quantized as one matrix.
    if (auto reshape = weights.getDefiningOp<nn::ReshapeOp>())
      weights = reshape.getX();
    auto dequantize = weights.getDefiningOp<nn::DequantizeOp>();
    auto values = corrections.find(nodeNameOf(op->getLoc()));
    if (!dequantize || !nn::getConstant(dequantize.getX()) ||
        values == corrections.end())
      return;
    failedOnce |= failed(correct(op, values->second, calibration.getFile()));
  });
  if (failedOnce)
    signalPassFailure();
}
