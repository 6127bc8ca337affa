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
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <cstring>

namespace ingot {
#define GEN_PASS_DEF_EQUALIZELAYERS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// A product with constant weights, and the factors of its channels. A model's
/// weights take much memory, so they are written only at the end.
struct EqualizedProduct {
  Operation *op;
  ElementsAttr weights;
  std::vector<double> bias;
  /// Dimensions of the weights that count output channels and input channels.
  int64_t outAxis, inAxis;
  /// Powers of two for the output and the input channels.
  std::vector<double> ofOutputs, ofInputs;

  RankedTensorType type() const {
    return cast<RankedTensorType>(weights.getType());
  }
  /// Calls `visit` with the index of each weight, its output and its input
  /// channel, and the product of their factors.
  template <typename Visit>
  void forEach(Visit visit) const;
  /// Returns the largest magnitude of each channel along `axis`.
  std::vector<double> largest(int64_t axis) const;
  /// Gives the product the weights and the bias times their factors.
  void write();
};

/// Two products of which the second reads the first.
struct Pair {
  EqualizedProduct *first, *second;
  /// True if a product has changed since the pair was equalized.
  bool isStale = true;

  bool shares(const Pair &other) const {
    return first == other.first || first == other.second ||
           second == other.first || second == other.second;
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

/// Visits the weights as an array of five dimensions, of which the second and
/// the fourth are channels. A depthwise product has one dimension for both.
template <typename Visit>
void EqualizedProduct::forEach(Visit visit) const {
  const bool outIsFirst = outAxis <= inAxis;
  ArrayRef<double> x = outIsFirst ? ofOutputs : ofInputs,
                   y = outIsFirst ? ofInputs : ofOutputs;
  ArrayRef<int64_t> shape = type().getShape();
  const int64_t low = std::min(outAxis, inAxis),
                high = std::max(outAxis, inAxis);
  const int64_t outer = support::productOf(shape.take_front(low)),
                inner = support::productOf(shape.drop_front(high + 1));
  const int64_t between =
      low == high ? 1
                  : support::productOf(shape.slice(low + 1, high - low - 1));
  const int64_t columns = low == high ? 1 : shape[high];
  int64_t at = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < shape[low]; ++i)
      for (int64_t b = 0; b < between; ++b)
        for (int64_t j = 0; j < columns; ++j) {
          const int64_t second = low == high ? i : j;
          const double factor = x[i] * y[second];
          for (int64_t k = 0; k < inner; ++k, ++at)
            visit(at, outIsFirst ? i : second, outIsFirst ? second : i, factor);
        }
}

std::vector<double> EqualizedProduct::largest(int64_t axis) const {
  std::vector<double> result(size_t(type().getDimSize(axis)));
  const bool areOutputs = axis == outAxis;
  auto find = [&](auto weightAt) {
    forEach([&](int64_t at, int64_t output, int64_t input, double factor) {
      double &most = result[areOutputs ? output : input];
      most = std::max(most, std::abs(weightAt(at)) * factor);
    });
  };
  std::vector<char> storage;
  std::optional<ArrayRef<char>> raw = nn::getRawBytes(weights, storage);
  if (raw && type().getElementType().isF32()) {
    // Data of a mapped file need not be aligned.
    find([data = raw->data()](int64_t at) {
      float weight;
      memcpy(&weight, data + at * int64_t(sizeof(weight)), sizeof(weight));
      return double(weight);
    });
    return result;
  }
  const std::vector<double> numbers = *nn::readDoubles(weights);
  find([&](int64_t at) { return numbers[at]; });
  return result;
}

static Value biasOf(Operation *op) {
  return op->getNumOperands() > 2 ? op->getOperand(2) : Value();
}

/// Reads a product that can be equalized: without groups, or depthwise. Returns
/// nullopt for others.
static std::optional<EqualizedProduct> readProduct(Operation *op) {
  EqualizedProduct product = {op, {}, {}, 0, 0, {}, {}};
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
  Value weights = op->getOperand(quantize::weightsOperand(op));
  if (Value bias = biasOf(op)) {
    auto type = dyn_cast<RankedTensorType>(bias.getType());
    std::optional<std::vector<double>> values = nn::getConstantDoubles(bias);
    if (!values || !type || type.getRank() != 1 ||
        type.getDimSize(0) !=
            support::typeOf(weights).getDimSize(product.outAxis))
      return std::nullopt;
    product.bias = std::move(*values);
  }
  if (!quantize::areFinite(weights))
    return std::nullopt;
  product.weights = nn::getConstant(weights);
  product.ofOutputs.assign(product.type().getDimSize(product.outAxis), 1);
  product.ofInputs.assign(product.type().getDimSize(product.inAxis), 1);
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
  for (size_t i = 0; i < factors.size(); ++i) {
    first.ofOutputs[i] /= factors[i];
    second.ofInputs[i] *= factors[i];
  }
  return true;
}

static void setConstant(Operation *op, unsigned operand,
                        ArrayRef<double> values) {
  OpBuilder builder(op);
  Value old = op->getOperand(operand);
  op->setOperand(
      operand, nn::makeConstant(builder, old.getLoc(),
                                cast<RankedTensorType>(old.getType()), values));
}

void EqualizedProduct::write() {
  std::vector<double> numbers = *nn::readDoubles(weights);
  forEach([&](int64_t at, int64_t, int64_t, double factor) {
    numbers[at] *= factor;
  });
  setConstant(op, quantize::weightsOperand(op), numbers);
  if (bias.empty())
    return;
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] *= ofOutputs[i];
  setConstant(op, 2, bias);
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
    SmallVector<Pair> pairs;
    for (auto &[op, product] : products)
      if (Operation *reader = findReader(op);
          reader && products.contains(reader))
        pairs.push_back({&product, &products[reader]});
    llvm::SetVector<EqualizedProduct *> changed;
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep)
      for (Pair &pair : pairs) {
        if (!std::exchange(pair.isStale, false) ||
            !equalize(*pair.first, *pair.second))
          continue;
        for (Pair &other : pairs)
          other.isStale |= other.shares(pair);
        changed.insert(pair.first);
        changed.insert(pair.second);
      }
    for (EqualizedProduct *product : changed) {
      product->write();
      ++equalized;
    }
  }
}
