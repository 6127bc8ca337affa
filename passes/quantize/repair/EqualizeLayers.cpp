//===- EqualizeLayers.cpp - nn-equalize-layers ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/quantize/AttachedCalibration.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/Convolutions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_EQUALIZELAYERS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// A product with constant weights. The pass changes the copies of its weights
/// and bias here, and writes them back once.
struct EqualizedProduct {
  Operation *op;
  std::vector<double> weights, bias;
  /// Dimensions of the weights that count output channels and input channels.
  int64_t outAxis = 0, inAxis = 0;

  RankedTensorType type() const {
    return cast<RankedTensorType>(
        op->getOperand(quantize::weightsOperand(op)).getType());
  }
  int64_t channels(int64_t axis) const { return type().getDimSize(axis); }

  /// Calls `visit` with each weight and its channel along `axis`.
  template <typename Visit>
  void forEach(int64_t axis, Visit visit) {
    int64_t inner = 1;
    for (int64_t dim : type().getShape().drop_front(axis + 1))
      inner *= dim;
    for (size_t i = 0; i < weights.size(); ++i)
      visit(weights[i], size_t(int64_t(i) / inner % channels(axis)));
  }
  std::vector<double> largest(int64_t axis) {
    std::vector<double> result(size_t(channels(axis)));
    forEach(axis, [&](double weight, size_t channel) {
      result[channel] = std::max(result[channel], std::abs(weight));
    });
    return result;
  }
};

struct EqualizeLayersPass
    : ingot::impl::EqualizeLayersBase<EqualizeLayersPass> {
  using EqualizeLayersBase::EqualizeLayersBase;
  void runOnOperation() override;

private:
  bool equalize(EqualizedProduct &first, EqualizedProduct &second);
};

} // namespace

static Value biasOf(Operation *op) {
  return op->getNumOperands() > 2 ? op->getOperand(2) : Value();
}

/// Reads a product that can be equalized: without groups, or depthwise. Returns
/// nullopt for others.
static std::optional<EqualizedProduct> readProduct(Operation *op) {
  EqualizedProduct product = {op, {}, {}};
  if (auto conv = dyn_cast<nn::ConvOp>(op)) {
    const bool isDepthwise = support::isDepthwise(conv);
    if (conv.getGroups() > 1 && !isDepthwise)
      return std::nullopt;
    product.outAxis = 0;
    // Depthwise weights have one dimension that counts both input and output
    // channels.
    product.inAxis = isDepthwise ? 0 : 1;
  } else {
    if (auto conv = dyn_cast<nn::ConvTransposeOp>(op);
        conv && conv.getGroups() > 1)
      return std::nullopt;
    product.outAxis = quantize::weightsAxis(op);
    auto matmul = dyn_cast<nn::MatMulOp>(op);
    product.inAxis = matmul ? quantize::termsAxis(matmul) : 0;
  }
  if (Value bias = biasOf(op)) {
    auto type = dyn_cast<RankedTensorType>(bias.getType());
    std::optional<std::vector<double>> values = nn::getConstantDoubles(bias);
    if (!values || !type || type.getRank() != 1 ||
        type.getDimSize(0) != product.channels(product.outAxis))
      return std::nullopt;
    product.bias = std::move(*values);
  }
  Value weights = op->getOperand(quantize::weightsOperand(op));
  if (!quantize::areFinite(weights))
    return std::nullopt;
  product.weights = *nn::getConstantDoubles(weights);
  return product;
}

/// Returns the product that reads the result of `op`, or null. Between both,
/// only activations and pools with one user may lie. If a channel of their
/// operand is scaled, their result is scaled by the same factor.
static Operation *findReader(Operation *op) {
  Value value = op->getResult(0);
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (isa<nn::ConvOp, nn::MatMulOp>(user))
      return use.getOperandNumber() == 0 ? user : nullptr;
    if (!isa<nn::ReluOp, nn::LeakyReluOp, nn::MaxPoolOp, nn::AvgPoolOp>(user))
      return nullptr;
    value = user->getResult(0);
  }
  return nullptr;
}

/// Divides the output channels of `first` by factors, and multiplies the input
/// channels of `second` by the same factors. The weights of both products then
/// have equal magnitude. Factors are powers of two, so that float results stay
/// identical to the last bit.
bool EqualizeLayersPass::equalize(EqualizedProduct &first,
                                  EqualizedProduct &second) {
  const std::vector<double> a = first.largest(first.outAxis),
                            b = second.largest(second.inAxis);
  if (a.size() != b.size())
    return false;
  constexpr int kMax = 12;
  std::vector<double> factors(a.size(), 1);
  bool changes = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isnormal(float(a[i])) || !std::isnormal(float(b[i])))
      continue;
    const double exponent = std::nearbyint(std::log2(a[i] / b[i]) / 2);
    factors[i] = std::exp2(std::clamp(exponent, -double(kMax), double(kMax)));
    changes |= factors[i] != 1;
  }
  if (!changes)
    return false;
  first.forEach(first.outAxis, [&](double &weight, size_t channel) {
    weight /= factors[channel];
  });
  for (size_t i = 0; i < first.bias.size(); ++i)
    first.bias[i] /= factors[i];
  second.forEach(second.inAxis, [&](double &weight, size_t channel) {
    weight *= factors[channel];
  });
  return true;
}

static void write(Operation *op, unsigned operand, ArrayRef<double> values) {
  OpBuilder builder(op);
  Value old = op->getOperand(operand);
  op->setOperand(
      operand, nn::makeConstant(builder, old.getLoc(),
                                cast<RankedTensorType>(old.getType()), values));
}

void EqualizeLayersPass::runOnOperation() {
  CalibrationAttr calibration = quantize::findCalibration(getOperation());
  if (!calibration || !calibration.getEqualize())
    return;
  // Repeat, because in a chain of layers each pair changes its neighbours.
  constexpr int kMaxSweeps = 16;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    llvm::MapVector<Operation *, EqualizedProduct> products;
    for (Operation *op :
         quantize::findProducts(function, [](Operation *) { return true; }))
      if (std::optional<EqualizedProduct> product = readProduct(op))
        products.insert({op, std::move(*product)});
    SmallVector<std::pair<Operation *, Operation *>> pairs;
    for (auto &[op, product] : products)
      if (Operation *reader = findReader(op);
          reader && products.contains(reader))
        pairs.push_back({op, reader});
    llvm::DenseSet<Operation *> changed;
    bool changes = true;
    for (int sweep = 0; changes && sweep < kMaxSweeps; ++sweep) {
      changes = false;
      for (auto [first, second] : pairs)
        if (equalize(products[first], products[second])) {
          changes = true;
          changed.insert(first);
          changed.insert(second);
        }
    }
    for (auto &[op, product] : products) {
      if (!changed.contains(op))
        continue;
      write(op, quantize::weightsOperand(op), product.weights);
      if (!product.bias.empty())
        write(op, 2, product.bias);
      ++equalized;
    }
  }
}
