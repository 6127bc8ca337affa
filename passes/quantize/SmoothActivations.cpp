//===- SmoothActivations.cpp - nn-smooth-activations ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/CalibrationFile.h"
#include "passes/quantize/Norms.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/Sites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_SMOOTHACTIVATIONS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct SmoothActivationsPass
    : ingot::impl::SmoothActivationsBase<SmoothActivationsPass> {
  using SmoothActivationsBase::SmoothActivationsBase;
  void runOnOperation() override;

private:
  void smooth(const quantize::NormBeforeProducts &norm,
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

/// The number of the weights' dimension that the data's channels go along.
static int64_t dataAxis(Operation *product) {
  return 1 - quantize::weightsAxis(product);
}

void SmoothActivationsPass::smooth(const quantize::NormBeforeProducts &norm,
                                   ArrayRef<float> largest) {
  constexpr double kMost = 12;
  std::vector<double> weights(largest.size());
  for (Operation *product : norm.products) {
    Value value = product->getOperand(quantize::weightsOperand(product));
    auto type = cast<RankedTensorType>(value.getType());
    const std::vector<double> values = *nn::getConstantDoubles(value);
    const int64_t inner = dataAxis(product) == 0 ? type.getDimSize(1) : 1;
    for (size_t i = 0; i < values.size(); ++i) {
      double &most =
          weights[size_t(int64_t(i) / inner % int64_t(weights.size()))];
      most = std::max(most, std::abs(values[i]));
    }
  }
  std::vector<double> factors(largest.size(), 1), inverse(largest.size(), 1);
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!std::isnormal(largest[i]) || !std::isnormal(float(weights[i])))
      continue;
    const double exponent =
        std::nearbyint(std::log2(double(largest[i]) / weights[i]) / 2);
    factors[i] = std::exp2(std::clamp(exponent, -kMost, kMost));
    inverse[i] = 1 / factors[i];
  }
  // The norm's own numbers come behind its data.
  for (unsigned i = 1; i < norm.norm->getNumOperands(); ++i)
    scale(norm.norm, i, 0, inverse);
  for (Operation *product : norm.products)
    scale(product, quantize::weightsOperand(product), dataAxis(product),
          factors);
  ++smoothed;
}

void SmoothActivationsPass::runOnOperation() {
  auto fail = [&](const Twine &message) {
    emitError(UnknownLoc::get(&getContext())) << message;
    signalPassFailure();
  };
  llvm::Expected<quantize::Calibration> read =
      quantize::readCalibration(calibration);
  if (!read)
    return fail(llvm::toString(read.takeError()));
  llvm::StringMap<ArrayRef<float>> maxima;
  for (const quantize::ChannelValues &norm : read->norms)
    maxima[norm.name] = norm.values;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (const quantize::NormBeforeProducts &norm :
         quantize::findNormsBeforeProducts(function)) {
      auto largest = maxima.find(norm.name);
      if (largest == maxima.end())
        continue;
      if (int64_t(largest->second.size()) != norm.channels)
        return fail("'" + printable(calibration) + "' has " +
                    Twine(largest->second.size()) + " channels of '" +
                    printable(norm.name) + "', which has " +
                    Twine(norm.channels));
      smooth(norm, largest->second);
    }
  }
}
