//===- LinearOperatorOf.cpp - linear operators of ops ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/merge/LinearOperator.h"

#include "dialects/nn/Constants.h"
#include "passes/support/ScaleShift.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using namespace ingot::support;

static std::optional<LinearOperator> operatorOfConv(nn::ConvOp op,
                                                    bool withWeights) {
  RankedTensorType w = typeOf(op.getW());
  // Skip integer products, because their sums have another type than the
  // weights.
  if (w.getElementType() != typeOf(op.getY()).getElementType())
    return std::nullopt;
  if (!w.hasStaticShape() || w.getNumElements() == 0 ||
      !nn::getConstant(op.getW()) ||
      (op.getBias() && !nn::getConstant(op.getBias())))
    return std::nullopt;
  LinearOperator linear;
  linear.outputs = w.getDimSize(0);
  linear.groups = op.getGroups();
  linear.inputs = w.getDimSize(1) * linear.groups;
  size_t n = w.getRank() - 2;
  for (size_t i = 0; i < n; ++i) {
    OperatorDim dim;
    dim.count = w.getDimSize(2 + i);
    dim.step = dim.count == 1 ? 1 : op.getDilations()[i];
    dim.stride = op.getStrides()[i];
    dim.offset = -op.getPads()[i];
    dim.slack = op.getPads()[i] + op.getPads()[n + i] -
                (dim.count - 1) * dim.step - 1;
    linear.dims.push_back(dim);
  }
  if (!withWeights || !linear.isBounded())
    return linear;
  auto weights = nn::getConstantDoubles(op.getW());
  auto bias = getBias(op.getBias(), linear.outputs);
  if (!weights || !bias)
    return std::nullopt;
  linear.weights = std::move(*weights);
  linear.bias = std::move(*bias);
  return linear;
}

static std::optional<LinearOperator> operatorOfPool(nn::AvgPoolOp op,
                                                    bool withWeights) {
  RankedTensorType x = typeOf(op.getX());
  int64_t channels =
      x.getDimSize(channelDim(x.getRank(), op.getChannelsLast()));
  auto isZero = [](int64_t pad) { return pad == 0; };
  // If the pool does not count its padding, the divisor depends on the
  // position, so the pool is not linear.
  bool divides = op.getCountIncludePad() || llvm::all_of(op.getPads(), isZero);
  if (!divides || ShapedType::isDynamic(channels))
    return std::nullopt;
  size_t n = op.getKernel().size();
  LinearOperator linear = LinearOperator::identity(channels, n);
  for (size_t i = 0; i < n; ++i) {
    OperatorDim &dim = linear.dims[i];
    dim.count = op.getKernel()[i];
    dim.step = dim.count == 1 ? 1 : op.getDilations()[i];
    dim.stride = op.getStrides()[i];
    dim.offset = -op.getPads()[i];
    dim.slack = op.getPads()[i] + op.getPads()[n + i] -
                (dim.count - 1) * dim.step - 1;
  }
  if (withWeights && linear.isBounded())
    linear.weights.assign(linear.numWeights(), 1.0 / double(linear.taps()));
  return linear;
}

/// Returns the identity on data of type `x`, to be cropped or padded in spatial
/// dimensions.
static std::optional<LinearOperator> spatialIdentity(RankedTensorType x,
                                                     bool channelsLast) {
  int64_t rank = x.getRank();
  if (rank < 3 || x.isDynamicDim(channelDim(rank, channelsLast)))
    return std::nullopt;
  return LinearOperator::identity(x.getDimSize(channelDim(rank, channelsLast)),
                                  rank - 2);
}

/// Returns the operator of a pad with zeros, or of a crop, in spatial
/// dimensions.
static std::optional<LinearOperator> operatorOfPad(nn::PadOp op,
                                                   bool channelsLast) {
  RankedTensorType x = typeOf(op.getX());
  std::optional<LinearOperator> linear = spatialIdentity(x, channelsLast);
  if (!linear || op.getMode() != nn::PadMode::constant ||
      nn::getSplat(op.getValue()) != 0.0)
    return std::nullopt;
  int64_t rank = x.getRank(), channel = channelDim(rank, channelsLast);
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t low = op.getLow()[i], high = op.getHigh()[i];
    if (i == 0 || i == channel) {
      if (low != 0 || high != 0)
        return std::nullopt;
      continue;
    }
    linear->dims[next].offset = -low;
    linear->dims[next++].slack = low + high - 1;
  }
  return linear;
}

/// Returns the values that `scatters`, the last one first, write to a tensor of
/// `shape`. Elements that are not written are NaN. Returns nullopt if the
/// values are not constant.
static std::optional<std::vector<double>>
scatteredValues(ArrayRef<nn::ScatterNDOp> scatters, ArrayRef<int64_t> shape) {
  constexpr int64_t kMaxElements = int64_t(1) << 24;
  int64_t total = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size) || size > kMaxElements)
      return std::nullopt;
    total *= size;
    if (total > kMaxElements)
      return std::nullopt;
  }
  std::vector<double> values(total, std::nan(""));
  for (nn::ScatterNDOp scatter : llvm::reverse(scatters)) {
    auto indices = nn::getConstantInts(scatter.getIndices());
    auto updates = nn::getConstantDoubles(scatter.getUpdates());
    int64_t depth = typeOf(scatter.getIndices()).getShape().back();
    if (!indices || !updates || depth < 1 || depth > int64_t(shape.size()))
      return std::nullopt;
    size_t tuples = indices->size() / depth, slice = 1;
    for (int64_t size : shape.drop_front(depth))
      slice *= size;
    if (updates->size() != tuples * slice)
      return std::nullopt;
    for (size_t i = 0; i < tuples; ++i) {
      int64_t at = 0;
      for (int64_t d = 0; d < depth; ++d) {
        int64_t index = (*indices)[i * depth + d];
        index += index < 0 ? shape[d] : 0;
        if (index < 0 || index >= shape[d])
          return std::nullopt;
        at = at * shape[d] + index;
      }
      std::copy_n(updates->begin() + i * slice, slice,
                  values.begin() + at * slice);
    }
  }
  return values;
}

/// Returns the operator of a pad whose border is then overwritten with one
/// value per channel. Exporters create these ops for a module that pads with
/// the normalized value of zero.
static std::optional<LinearOperator> operatorOfBorder(nn::ScatterNDOp last,
                                                      bool channelsLast,
                                                      bool withWeights,
                                                      Value &data) {
  SmallVector<nn::ScatterNDOp> scatters;
  Value value = last.getY();
  while (auto scatter = value.getDefiningOp<nn::ScatterNDOp>()) {
    if (scatter.getReduction() != nn::ScatterReduction::none ||
        !nn::getConstant(scatter.getIndices()) ||
        !nn::getConstant(scatter.getUpdates()) || !value.hasOneUse())
      return std::nullopt;
    scatters.push_back(scatter);
    value = scatter.getX();
  }
  auto pad = value.getDefiningOp<nn::PadOp>();
  if (!pad || !value.hasOneUse())
    return std::nullopt;
  data = pad.getX();
  auto linear = operatorOfPad(pad, channelsLast);
  if (!linear || !withWeights)
    return linear;

  RankedTensorType type = typeOf(value);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t channel = channelDim(type.getRank(), channelsLast);
  auto values = scatteredValues(scatters, shape);
  if (!values)
    return std::nullopt;
  linear->outside.assign(linear->inputs, std::nan(""));
  SmallVector<int64_t> at(shape.size(), 0);
  for (double number : *values) {
    bool border = false;
    for (auto [i, size] : llvm::enumerate(shape))
      border |= at[i] < pad.getLow()[i] || at[i] >= size - pad.getHigh()[i];
    double &expected = linear->outside[at[channel]];
    if (border && std::isnan(expected))
      expected = number;
    if (border ? number != expected : !std::isnan(number))
      return std::nullopt;
    size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1])
      at[--d] = 0;
  }
  if (llvm::any_of(linear->outside, [](double v) { return std::isnan(v); }))
    return std::nullopt;
  return linear;
}

/// Returns the operator of a slice of spatial dimensions with a positive step.
static std::optional<LinearOperator> operatorOfSlice(nn::SliceOp op,
                                                     bool channelsLast) {
  RankedTensorType x = typeOf(op.getX());
  std::optional<LinearOperator> linear = spatialIdentity(x, channelsLast);
  if (!linear)
    return std::nullopt;
  int64_t rank = x.getRank(), channel = channelDim(rank, channelsLast);
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t start = op.getStarts()[i], size = op.getSizes()[i],
            step = op.getSteps()[i];
    bool whole = start == 0 && step == 1 &&
                 (size == -1 || size == x.getDimSize(i));
    bool spatial = i != 0 && i != channel;
    if (!whole) {
      if (!spatial || x.isDynamicDim(i) || step < 1 || size < 1)
        return std::nullopt;
      OperatorDim &dim = linear->dims[next];
      dim.offset = start;
      dim.stride = step;
      dim.slack = (size - 1) * step - x.getDimSize(i);
    }
    next += spatial;
  }
  return linear;
}

static std::optional<LinearOperator>
operatorOfScaleShift(Operation *op, bool channelsLast, Value &data) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  if (rank < 3)
    return std::nullopt;
  auto scaleShift = matchScaleShift(op, channelDim(rank, channelsLast), data);
  if (!scaleShift)
    return std::nullopt;
  LinearOperator linear =
      LinearOperator::identity(scaleShift->scale.size(), rank - 2);
  linear.weights = std::move(scaleShift->scale);
  linear.bias = std::move(scaleShift->shift);
  return linear;
}

/// Returns the operator of `op` without checking if it is bounded.
static std::optional<LinearOperator>
operatorOf(Operation *op, bool channelsLast, bool withWeights, Value &data) {
  if (auto conv = dyn_cast<nn::ConvOp>(op)) {
    data = conv.getX();
    if (conv.getChannelsLast() != channelsLast)
      return std::nullopt;
    return operatorOfConv(conv, withWeights);
  }
  if (auto pool = dyn_cast<nn::AvgPoolOp>(op)) {
    data = pool.getX();
    if (pool.getChannelsLast() != channelsLast)
      return std::nullopt;
    return operatorOfPool(pool, withWeights);
  }
  if (auto pad = dyn_cast<nn::PadOp>(op)) {
    data = pad.getX();
    return operatorOfPad(pad, channelsLast);
  }
  if (auto scatter = dyn_cast<nn::ScatterNDOp>(op))
    return operatorOfBorder(scatter, channelsLast, withWeights, data);
  if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    data = slice.getX();
    return operatorOfSlice(slice, channelsLast);
  }
  if (isa<nn::BatchNormOp, nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp>(op))
    return operatorOfScaleShift(op, channelsLast, data);
  return std::nullopt;
}

std::optional<LinearOperator> graph::getLinearOperator(Operation *op,
                                                       bool channelsLast,
                                                       bool withWeights,
                                                       Value &data) {
  auto linear = operatorOf(op, channelsLast, withWeights, data);
  if (linear && !linear->isBounded())
    return std::nullopt;
  return linear;
}
