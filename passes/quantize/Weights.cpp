//===- Weights.cpp - constant weights as bytes ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Weights.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/quantize/Grid.h"
#include "passes/quantize/Sites.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

QuantizedWeights quantize::quantizeWeights(Value weights, int64_t axis,
                                           int bits) {
  const double most = bits == 8 ? 127 : 64;
  auto type = cast<RankedTensorType>(weights.getType());
  QuantizedWeights result;
  std::vector<double> &values = result.bytes;
  std::vector<double> &scales = result.scales;
  values = *nn::getConstantDoubles(weights);
  scales.resize(size_t(type.getDimSize(axis)));
  result.axis = axis;
  for (int64_t dim : type.getShape().drop_front(axis + 1))
    result.inner *= dim;
  for (size_t i = 0; i < values.size(); ++i) {
    double &scale = scales[result.channelOf(i)];
    scale = std::max(scale, std::abs(values[i]));
  }
  for (auto [channel, scale] : llvm::enumerate(scales)) {
    const size_t inner = result.inner;
    auto at = [&](size_t i) {
      return values[(i / inner * scales.size() + channel) * inner + i % inner];
    };
    if (auto step = findStep(values.size() / scales.size(), at, scale,
                             int64_t(most))) {
      scale = *step;
      continue;
    }
    result.isExact = false;
    scale = double(float(scale / most));
    // One of nearly nothing.
    if (!std::isnormal(float(scale)))
      scale = 1;
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::clamp(
        std::nearbyint(values[i] / scales[result.channelOf(i)]), -most, most);
  return result;
}

bool quantize::areFinite(Value weights) {
  return llvm::all_of(*nn::getConstantDoubles(weights),
                      [](double value) { return std::isfinite(value); });
}

void quantize::WeightQuantizer::quantize(Operation *product) {
  OpOperand &operand = product->getOpOperand(weightsOperand(product));
  const int64_t axis = weightsAxis(product);
  Value &done = weights[{operand.get(), axis}];
  if (!done) {
    QuantizedWeights quantized = quantizeWeights(operand.get(), axis, bits);
    auto type = cast<RankedTensorType>(operand.get().getType());
    OpBuilder builder(product);
    builder.setInsertionPointAfterValue(operand.get());
    Location loc = operand.get().getLoc();
    Type byte = builder.getIntegerType(8, /*isSigned=*/true);
    Value bytes =
        nn::makeConstant(builder, loc, type.clone(byte), quantized.bytes);
    Value scale = nn::makeConstant(
        builder, loc,
        RankedTensorType::get(int64_t(quantized.scales.size()),
                              type.getElementType()),
        quantized.scales);
    done = nn::DequantizeOp::create(builder, loc, type, bytes, scale,
                                    /*zero_point=*/Value(),
                                    builder.getI64IntegerAttr(axis));
  }
  operand.set(done);
}
