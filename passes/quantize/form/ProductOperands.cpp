//===- ProductOperands.cpp - operands of integer products -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/form/ProductOperands.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// Returns true if a product of bytes takes weights of `element`. Weights of
/// fewer bits become bytes in convolutions, which read each weight for many
/// pixels. Matrix products read them packed.
static bool fitsBytes(Operation *product, Type element) {
  return nn::isByte(element) ||
         (isa<nn::ConvOp>(product) && element.isInteger() &&
          element.getIntOrFloatBitWidth() < 8);
}

/// Returns the constant scales and zero points of `op`; nullopt if they are
/// computed.
static std::optional<Parameters> readParameters(nn::DequantizeOp op) {
  auto scales = nn::getConstantDoubles(op.getScale());
  std::optional<std::vector<double>> zeros = std::vector<double>{0};
  if (op.getZeroPoint())
    zeros = nn::getConstantDoubles(op.getZeroPoint());
  if (!scales || scales->empty() || !zeros || zeros->empty())
    return std::nullopt;
  return Parameters{std::move(*scales), std::move(*zeros)};
}

std::optional<Weights> quantize::readWeights(Operation *product, Value value,
                                             int64_t dim, StringRef &reason) {
  if (!typeOf(product->getResult(0)).getElementType().isF32()) {
    reason = "does not compute f32";
    return std::nullopt;
  }
  auto op = value.getDefiningOp<nn::DequantizeOp>();
  auto constant = op ? nn::getConstant(op.getX()) : ElementsAttr();
  if (!constant || !fitsBytes(product, typeOf(op.getX()).getElementType())) {
    reason = "has weights that are not constant bytes";
    return std::nullopt;
  }
  auto bytes = nn::readDoubles(constant);
  std::optional<Parameters> parameters = readParameters(op);
  if (!bytes || !parameters) {
    reason = "has weights of computed scales";
    return std::nullopt;
  }
  if (typeOf(op.getScale()).getRank() != 0 && parameters->scales.size() != 1 &&
      int64_t(op.getAxis()) != dim) {
    reason = "has scales of weights along another dimension than its outputs";
    return std::nullopt;
  }
  Weights weights{typeOf(op.getX()), dim, std::move(*bytes),
                  std::move(*parameters), /*offsets=*/{}};
  weights.forEachRun([&](int64_t output, size_t begin, size_t end) {
    const double zero = weights.parameters.zeroOf(output);
    for (size_t i = begin; i < end; ++i)
      weights.bytes[i] -= zero;
  });
  return weights;
}

bool quantize::makeSignedBytes(Weights &weights) {
  constexpr double kMin = -128, kMax = 127;
  if (weights.bytes.empty())
    return true;
  std::vector<double> least(weights.outputs(), 0), most(least.size(), 0);
  weights.forEachRun([&](int64_t output, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      least[output] = std::min(least[output], weights.bytes[i]);
      most[output] = std::max(most[output], weights.bytes[i]);
    }
  });
  auto offsetOf = [](double least, double most) {
    return std::min(least - kMin, 0.0) + std::max(most - kMax, 0.0);
  };
  // Use one offset for all outputs if one is enough. The kernel then adds the
  // offset back with only one addend for each row of outputs.
  const double smallest = *llvm::min_element(least),
               largest = *llvm::max_element(most);
  std::vector<double> offsets(least.size(), offsetOf(smallest, largest));
  if (largest - smallest > kMax - kMin)
    for (size_t o = 0; o < offsets.size(); ++o) {
      if (most[o] - least[o] > kMax - kMin)
        return false;
      offsets[o] = offsetOf(least[o], most[o]);
    }
  if (llvm::all_of(offsets, [](double offset) { return offset == 0; }))
    return true;
  weights.forEachRun([&](int64_t output, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      weights.bytes[i] -= offsets[output];
  });
  weights.offsets = std::move(offsets);
  return true;
}

std::optional<std::vector<double>>
quantize::readBias(Value bias, int64_t count, StringRef &reason) {
  reason = "has a bias that is not constant";
  if (!bias)
    return std::vector<double>(count, 0);
  auto op = bias.getDefiningOp<nn::DequantizeOp>();
  auto values = nn::getConstantDoubles(op ? op.getX() : bias);
  std::optional<Parameters> parameters;
  if (op)
    parameters = readParameters(op);
  if (!values || (op && !parameters))
    return std::nullopt;
  if (op)
    for (auto [i, value] : llvm::enumerate(*values))
      value = (value - parameters->zeroOf(i)) * parameters->scaleOf(i);
  if (values->size() == 1)
    values->resize(count, values->front());
  if (int64_t(values->size()) != count)
    return std::nullopt;
  return values;
}

Value quantize::alongOutputs(OpBuilder &builder, Location loc,
                             RankedTensorType type, int64_t dim, Type element,
                             ArrayRef<double> values) {
  SmallVector<int64_t> shape(type.getRank() - dim, 1);
  shape[0] = values.size();
  return nn::makeConstant(builder, loc, RankedTensorType::get(shape, element),
                          values);
}

void quantize::eraseUnread(Operation *root) {
  SmallVector<nn::DequantizeOp> unread;
  root->walk([&](nn::DequantizeOp op) {
    if (op->use_empty())
      unread.push_back(op);
  });
  for (nn::DequantizeOp op : unread)
    op.erase();
}
