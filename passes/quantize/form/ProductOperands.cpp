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

/// Returns the dequantize that computes `value`. Skips a reshape of a matrix
/// with a row for each output of each batch.
static nn::DequantizeOp findDequantize(Value value, int64_t dim) {
  if (auto op = value.getDefiningOp<nn::DequantizeOp>())
    return op;
  auto reshape = value.getDefiningOp<nn::ReshapeOp>();
  if (!reshape)
    return {};
  RankedTensorType matrix = typeOf(reshape.getX()), type = typeOf(value);
  if (matrix.getRank() != 2 || type.getRank() <= 2 ||
      dim != type.getRank() - 2 ||
      matrix.getDimSize(1) != type.getShape().back())
    return {};
  return reshape.getX().getDefiningOp<nn::DequantizeOp>();
}

/// Extends parameters of the outputs, or of the batches, to all outputs of all
/// batches. Returns false if they vary along another dimension.
static bool extendToBatches(const Weights &weights, int64_t axis, bool isMatrix,
                            std::vector<double> &values) {
  const auto each = size_t(weights.type.getDimSize(weights.dim)),
             batches = size_t(weights.batches);
  if (values.size() == 1 || (isMatrix && axis == 0))
    return true;
  const bool ofOutputs = axis == weights.dim,
             ofBatches =
                 axis == 0 && batches > 1 && weights.type.getRank() == 3;
  if (isMatrix || (!ofOutputs && !ofBatches))
    return false;
  std::vector<double> all(batches * each);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = values[ofOutputs ? i % each : i / each];
  values = std::move(all);
  return true;
}

std::optional<Weights> quantize::readWeights(Operation *product, Value value,
                                             int64_t dim, StringRef &reason,
                                             unsigned mostBits) {
  if (!typeOf(product->getResult(0)).getElementType().isF32()) {
    reason = "does not compute f32";
    return std::nullopt;
  }
  nn::DequantizeOp op = findDequantize(value, dim);
  auto constant = op ? nn::getConstant(op.getX()) : ElementsAttr();
  Type element = constant ? typeOf(op.getX()).getElementType() : Type();
  if (!element || !element.isInteger() ||
      element.getIntOrFloatBitWidth() > mostBits) {
    reason = "has weights that are not constants of few bits";
    return std::nullopt;
  }
  auto bytes = nn::readDoubles(constant);
  std::optional<Parameters> parameters = readParameters(op);
  if (!bytes || !parameters) {
    reason = "has weights of computed scales";
    return std::nullopt;
  }
  RankedTensorType type = typeOf(value);
  const int64_t batches = isa<nn::MatMulOp>(product)
                              ? support::productOf(type.getShape().drop_back(2))
                              : 1;
  Weights weights{type.clone(typeOf(op.getX()).getElementType()),
                  dim,
                  batches,
                  std::move(*bytes),
                  std::move(*parameters),
                  /*offsets=*/{},
                  /*remainders=*/{}};
  const bool isMatrix = op.getY() != value;
  for (std::vector<double> *values :
       {&weights.parameters.scales, &weights.parameters.zeros})
    if (!extendToBatches(weights, int64_t(op.getAxis()), isMatrix, *values)) {
      reason = "has scales of weights along another dimension than its outputs";
      return std::nullopt;
    }
  weights.forEachRun([&](int64_t output, size_t begin, size_t end) {
    const double zero = weights.parameters.zeroOf(output);
    for (size_t i = begin; i < end; ++i)
      weights.bytes[i] -= zero;
  });
  return weights;
}

/// Returns the remainders of the weights of `product` beyond signed bytes,
/// which `weights` then are. Returns nullopt if it takes no remainders.
static std::optional<support::Remainders> splitFor(Operation *product,
                                                   Weights &weights) {
  if (auto conv = dyn_cast<nn::ConvOp>(product); conv && weights.dim == 0)
    return support::takesRemainders(conv)
               ? support::splitConvWeights(
                     weights.bytes, weights.type.getShape(), conv.getGroups())
               : std::nullopt;
  if (isa<nn::MatMulOp>(product) && weights.type.getRank() == 2)
    return support::splitMatrix(weights.bytes, weights.outputs(),
                                /*hasColumns=*/weights.dim == 1);
  return std::nullopt;
}

bool quantize::splitExcess(Operation *product, Weights &weights) {
  auto remainders = splitFor(product, weights);
  if (remainders)
    weights.remainders = std::move(*remainders);
  return remainders.has_value();
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
  if (const int64_t each = type.getDimSize(dim);
      !ShapedType::isDynamic(each) && shape[0] > each) {
    shape.assign(type.getShape().begin(), type.getShape().end());
    shape[dim - 1] = 1;
  }
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
