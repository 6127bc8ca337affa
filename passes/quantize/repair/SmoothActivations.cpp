//===- SmoothActivations.cpp - nn-smooth-activations ----------------------===//
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
#include "passes/quantize/repair/Smoothable.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_SMOOTHACTIVATIONS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

struct SmoothActivationsPass
    : ingot::impl::SmoothActivationsBase<SmoothActivationsPass> {
  using SmoothActivationsBase::SmoothActivationsBase;
  void runOnOperation() override;

private:
  void smooth(const quantize::SmoothableTensor &tensor,
              ArrayRef<float> largest);
};

} // namespace

/// Multiplies each element of a constant operand by the factor of its channel
/// along `axis`.
static void scale(Operation *op, unsigned operand, int64_t axis,
                  ArrayRef<double> factors) {
  Value old = op->getOperand(operand);
  auto type = cast<RankedTensorType>(old.getType());
  std::vector<double> values = *nn::getConstantDoubles(old);
  int64_t inner = 1;
  for (int64_t dim : type.getShape().drop_front(axis + 1))
    inner *= dim;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] *= factors[size_t(int64_t(i) / inner % int64_t(factors.size()))];
  OpBuilder builder(op);
  op->setOperand(operand,
                 nn::makeConstant(builder, old.getLoc(), type, values));
}

/// Returns true if all operands are constant vectors with one element for each
/// channel, so that they can absorb factors.
static bool areOfChannels(OperandRange operands, int64_t channels) {
  return llvm::all_of(operands, [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 1 && type.getDimSize(0) == channels &&
           nn::getConstant(value);
  });
}

/// Multiplies the result of `op` by `inverse`, by changing constants of `op`.
/// Returns false if `op` has no such constants.
static bool scaleSource(Operation *op, const quantize::SmoothableTensor &tensor,
                        ArrayRef<double> inverse) {
  // A relu commutes with positive factors.
  if (auto relu = dyn_cast<nn::ReluOp>(op); relu && relu.getX().hasOneUse() &&
                                            relu.getX().getDefiningOp())
    return scaleSource(relu.getX().getDefiningOp(), tensor, inverse);
  const int64_t rank = typeOf(tensor.value).getRank();
  auto layerNorm = dyn_cast<nn::LayerNormOp>(op);
  auto rmsNorm = dyn_cast<nn::RMSNormOp>(op);
  if (layerNorm || rmsNorm) {
    const auto axis =
        int64_t(layerNorm ? layerNorm.getAxis() : rmsNorm.getAxis());
    // The scale and the bias are the operands of a norm that follow its data.
    if (axis != rank - 1 || tensor.axis != axis || op->getNumOperands() < 2 ||
        (layerNorm && !layerNorm.getScale()) ||
        !areOfChannels(op->getOperands().drop_front(), tensor.channels))
      return false;
    for (unsigned i = 1; i < op->getNumOperands(); ++i)
      scale(op, i, 0, inverse);
    return true;
  }
  if (!isa<nn::ConvOp, nn::MatMulOp>(op))
    return false;
  const unsigned weights = quantize::weightsOperand(op);
  const int64_t axis = quantize::weightsAxis(op);
  auto type = dyn_cast<RankedTensorType>(op->getOperand(weights).getType());
  if (!type || !nn::getConstant(op->getOperand(weights)) ||
      !type.getElementType().isF32() ||
      (isa<nn::MatMulOp>(op) && type.getRank() != 2) ||
      tensor.axis != (isa<nn::ConvOp>(op) ? 1 : rank - 1) ||
      !areOfChannels(op->getOperands().drop_front(2), tensor.channels))
    return false;
  scale(op, weights, axis, inverse);
  for (unsigned i = 2; i < op->getNumOperands(); ++i)
    scale(op, i, 0, inverse);
  return true;
}

/// Creates `value` times the factor of each channel.
static Value multiplied(Value value, int64_t axis, ArrayRef<double> factors) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  SmallVector<int64_t> shape(size_t(typeOf(value).getRank() - axis), 1);
  shape.front() = int64_t(factors.size());
  Value constant =
      nn::makeConstant(builder, value.getLoc(),
                       RankedTensorType::get(shape, builder.getF32Type()),
                       factors);
  return nn::MulOp::create(builder, value.getLoc(), value, constant);
}

/// Returns the divisor of each channel: a power of two.
static std::vector<double>
findFactors(const quantize::SmoothableTensor &tensor, ArrayRef<float> largest) {
  constexpr double kMax = 12;
  std::vector<double> weights(largest.size());
  bool hasCoarse = false;
  for (const quantize::SmoothableTensor::Reader &reader : tensor.readers) {
    if (!reader.isCoarse)
      continue;
    hasCoarse = true;
    Value value = reader.product->getOperand(
        quantize::weightsOperand(reader.product));
    const std::vector<double> values = *nn::getConstantDoubles(value);
    int64_t inner = 1;
    for (int64_t dim :
         typeOf(value).getShape().drop_front(reader.weightsAxis + 1))
      inner *= dim;
    for (size_t i = 0; i < values.size(); ++i) {
      double &most =
          weights[size_t(int64_t(i) / inner % int64_t(weights.size()))];
      most = std::max(most, std::abs(values[i]));
    }
  }
  std::vector<double> factors(largest.size(), 1);
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!std::isnormal(largest[i]) ||
        (hasCoarse && !std::isnormal(float(weights[i]))))
      continue;
    // If no reader is coarse, the weights tolerate any factor, so make all
    // channels equally large.
    const double exponent =
        hasCoarse ? std::log2(double(largest[i]) / weights[i]) / 2
                  : std::log2(double(largest[i]));
    factors[i] = std::exp2(std::clamp(std::nearbyint(exponent), -kMax, kMax));
  }
  return factors;
}

void SmoothActivationsPass::smooth(const quantize::SmoothableTensor &tensor,
                                   ArrayRef<float> largest) {
  const std::vector<double> factors = findFactors(tensor, largest);
  if (llvm::all_equal(factors))
    return;
  std::vector<double> inverse = factors;
  for (double &factor : inverse)
    factor = 1 / factor;
  for (const quantize::SmoothableTensor::Reader &reader : tensor.readers)
    scale(reader.product, quantize::weightsOperand(reader.product),
          reader.weightsAxis, factors);
  Value value = tensor.value;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  if (!scaleSource(value.getDefiningOp(), tensor, inverse)) {
    value = multiplied(value, tensor.axis, inverse);
    for (OpOperand *use : uses)
      use->set(value);
  }
  if (!tensor.others.empty()) {
    Value back = multiplied(value, tensor.axis, factors);
    for (OpOperand *use : tensor.others)
      use->set(back);
  }
  ++smoothed;
}

void SmoothActivationsPass::runOnOperation() {
  CalibrationAttr calibration = quantize::findCalibration(getOperation());
  if (!calibration || calibration.getChannels().empty())
    return;
  llvm::StringMap<ArrayRef<float>> maxima;
  for (ChannelValuesAttr channels : calibration.getChannels())
    maxima[channels.getName()] = channels.getValues();
  llvm::StringSet<> known;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (const quantize::SmoothableTensor &tensor :
         quantize::findSmoothableTensors(function)) {
      known.insert(tensor.name);
      auto largest = maxima.find(tensor.name);
      if (largest == maxima.end())
        continue;
      if (int64_t(largest->second.size()) != tensor.channels) {
        emitError(UnknownLoc::get(&getContext()))
            << "'" << printable(calibration.getFile()) << "' has "
            << largest->second.size() << " channels of '"
            << printable(tensor.name) << "', which has " << tensor.channels;
        return signalPassFailure();
      }
      smooth(tensor, largest->second);
    }
  }
  for (ChannelValuesAttr channels : calibration.getChannels())
    if (failed(quantize::checkName(calibration, channels.getName(),
                                   "channels of tensor", known,
                                   "no tensor whose channels may be scaled")))
      return signalPassFailure();
}
