//===- WindowSums.cpp - sums of the data under the weights ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/form/WindowSums.h"

#include "dialects/nn/Constants.h"

#include <algorithm>
#include <cstdlib>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

bool quantize::areExactAsFloats(const Weights &weights, int64_t zeroPoint) {
  const int64_t count = weights.type.getNumElements() /
                        std::max<int64_t>(weights.outputs(), 1);
  const int64_t most = std::max(std::abs(zeroPoint), std::abs(255 - zeroPoint));
  return count <= (int64_t(1) << 24) / most;
}

/// Sums dimension `dim` of `x`, which has `count` bytes, and subtracts
/// `zeroPoint` for each byte.
static Value sumAlong(OpBuilder &builder, Location loc, Value x, int64_t dim,
                      int64_t count, int64_t zeroPoint) {
  const auto all = double(zeroPoint * count);
  Type element = builder.getF32Type();
  Value y = nn::CastOp::create(builder, loc, typeOf(x).clone(element), x);
  y = nn::ReduceOp::create(builder, loc, y, nn::ReduceKind::sum, dim,
                           /*keep_dims=*/true);
  if (zeroPoint == 0)
    return y;
  return nn::SubOp::create(builder, loc, typeOf(y), y,
                           nn::makeScalar(builder, loc, element, all));
}

Value quantize::sumRows(OpBuilder &builder, Location loc, Value x,
                        int64_t count, int64_t zeroPoint) {
  return sumAlong(builder, loc, x, typeOf(x).getRank() - 1, count, zeroPoint);
}

/// Creates weights of ones for one channel, with the kernel size of `weights`.
static Value makeOnes(OpBuilder &builder, Value weights) {
  SmallVector<int64_t> shape(typeOf(weights).getShape());
  shape[0] = shape[1] = 1;
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return nn::makeConstant(builder, weights.getLoc(), type,
                          std::vector<double>(type.getNumElements(), 1));
}

static RankedTensorType oneChannel(RankedTensorType type, int64_t dim) {
  SmallVector<int64_t> sizes(type.getShape());
  sizes[dim] = 1;
  return type.clone(sizes);
}

/// Sums the channels of `x`, and convolves the result like `conv` with weights
/// of ones. Dimension `inputs` of the weights counts channels.
template <typename Conv>
static Value convolveOnes(OpBuilder &builder, Conv conv, Value x,
                          int64_t inputs, int64_t zeroPoint) {
  const int64_t dim = conv.getChannelsLast() ? typeOf(x).getRank() - 1 : 1;
  Value pixels = sumAlong(builder, conv.getLoc(), x, dim,
                          typeOf(conv.getW()).getDimSize(inputs), zeroPoint);
  Value ones = makeOnes(builder, conv.getW());
  auto sums = cast<Conv>(builder.clone(*conv));
  sums.getXMutable().assign(pixels);
  sums.getWMutable().assign(ones);
  sums.getBiasMutable().clear();
  sums.getY().setType(oneChannel(conv.getType(), dim));
  return sums;
}

Value quantize::sumWindows(OpBuilder &builder, nn::ConvOp conv, Value x,
                           int64_t zeroPoint) {
  return convolveOnes(builder, conv, x, /*inputs=*/1, zeroPoint);
}

Value quantize::sumWindows(OpBuilder &builder, nn::ConvTransposeOp conv,
                           Value x, int64_t zeroPoint) {
  return convolveOnes(builder, conv, x, /*inputs=*/0, zeroPoint);
}

Value quantize::centered(OpBuilder &builder, Location loc, Value bytes,
                         Type element, int64_t zeroPoint) {
  RankedTensorType type = typeOf(bytes).clone(element);
  Value x = nn::CastOp::create(builder, loc, type, bytes);
  if (zeroPoint == 0)
    return x;
  return nn::SubOp::create(
      builder, loc, type, x,
      nn::makeScalar(builder, loc, element, double(zeroPoint)));
}

Value quantize::addRemainders(OpBuilder &builder, Value sums, int64_t dim,
                              const Weights &weights, ArrayRef<Value> data,
                              int64_t zeroPoint) {
  Location loc = sums.getLoc();
  RankedTensorType type = typeOf(sums);
  Type element = type.getElementType();
  for (auto [x, remainder] : llvm::zip_equal(data, weights.remainders)) {
    Value amounts = alongOutputs(builder, loc, type, dim, element,
                                 /*values=*/remainder.second);
    Value more = nn::MulOp::create(
        builder, loc, type, centered(builder, loc, x, element, zeroPoint),
        amounts);
    sums = nn::AddOp::create(builder, loc, type, sums, more);
  }
  return sums;
}
