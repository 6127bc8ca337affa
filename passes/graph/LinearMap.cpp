//===- LinearMap.cpp - linear ops as one convolution ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/LinearMap.h"

#include "dialects/nn/Constants.h"
#include "passes/graph/Affine.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;

/// Weights of one map, in double: half a gigabyte.
static constexpr int64_t kMaxWeights = int64_t(1) << 26;

bool MapDim::isBounded() const {
  // Products of two, and sums of three of them, fit into 64 bits.
  constexpr int64_t kMost = int64_t(1) << 30;
  for (int64_t value : {offset, step, count, stride, slack})
    if (value > kMost || value < -kMost)
      return false;
  return last() <= kMost;
}

int64_t LinearMap::taps() const {
  int64_t taps = 1;
  for (const MapDim &dim : dims)
    if (llvm::MulOverflow(taps, dim.count, taps))
      return std::numeric_limits<int64_t>::max();
  return taps;
}

int64_t LinearMap::numWeights() const {
  int64_t count = taps();
  if (llvm::MulOverflow(count, outputs, count) ||
      llvm::MulOverflow(count, inputsOfGroup(), count))
    return std::numeric_limits<int64_t>::max();
  return count;
}

bool LinearMap::isBounded() const {
  return numWeights() <= kMaxWeights &&
         llvm::all_of(dims, [](const MapDim &dim) { return dim.isBounded(); });
}

bool LinearMap::hasBias() const {
  return llvm::any_of(bias, [](double v) { return v != 0; });
}

LinearMap LinearMap::identity(int64_t channels, int64_t spatialDims) {
  LinearMap map;
  map.inputs = map.outputs = map.groups = channels;
  map.dims.resize(spatialDims);
  map.weights.assign(channels, 1.0);
  map.bias.assign(channels, 0.0);
  return map;
}

/// Calls `visit(tap of each dimension, flat tap)`, row-major.
template <typename Visit>
static void forEachTap(ArrayRef<MapDim> dims, Visit visit) {
  SmallVector<int64_t> tap(dims.size(), 0);
  for (int64_t flat = 0;; ++flat) {
    visit(ArrayRef<int64_t>(tap), flat);
    size_t d = dims.size();
    while (d > 0 && ++tap[d - 1] == dims[d - 1].count)
      tap[--d] = 0;
    if (d == 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Maps of ops
//===----------------------------------------------------------------------===//

static std::optional<LinearMap> mapOfConv(nn::ConvOp op, bool withWeights) {
  RankedTensorType w = typeOf(op.getW());
  if (!w.hasStaticShape() || w.getNumElements() == 0 ||
      !nn::getConstant(op.getW()) ||
      (op.getBias() && !nn::getConstant(op.getBias())))
    return std::nullopt;
  LinearMap map;
  map.outputs = w.getDimSize(0);
  map.groups = op.getGroups();
  map.inputs = w.getDimSize(1) * map.groups;
  size_t n = w.getRank() - 2;
  for (size_t i = 0; i < n; ++i) {
    MapDim dim;
    dim.count = w.getDimSize(2 + i);
    dim.step = dim.count == 1 ? 1 : op.getDilations()[i];
    dim.stride = op.getStrides()[i];
    dim.offset = -op.getPads()[i];
    dim.slack = op.getPads()[i] + op.getPads()[n + i] -
                (dim.count - 1) * dim.step - 1;
    map.dims.push_back(dim);
  }
  if (!withWeights || !map.isBounded())
    return map;
  auto weights = nn::getConstantDoubles(op.getW());
  auto bias = getBias(op.getBias(), map.outputs);
  if (!weights || !bias)
    return std::nullopt;
  map.weights = std::move(*weights);
  map.bias = std::move(*bias);
  return map;
}

static std::optional<LinearMap> mapOfPool(nn::AvgPoolOp op,
                                          bool withWeights) {
  RankedTensorType x = typeOf(op.getX());
  int64_t channels =
      x.getDimSize(channelDim(x.getRank(), op.getChannelsLast()));
  auto isZero = [](int64_t pad) { return pad == 0; };
  // Otherwise the divisor depends on the position.
  bool divides = op.getCountIncludePad() || llvm::all_of(op.getPads(), isZero);
  if (!divides || ShapedType::isDynamic(channels))
    return std::nullopt;
  size_t n = op.getKernel().size();
  LinearMap map = LinearMap::identity(channels, n);
  for (size_t i = 0; i < n; ++i) {
    MapDim &dim = map.dims[i];
    dim.count = op.getKernel()[i];
    dim.step = dim.count == 1 ? 1 : op.getDilations()[i];
    dim.stride = op.getStrides()[i];
    dim.offset = -op.getPads()[i];
    dim.slack = op.getPads()[i] + op.getPads()[n + i] -
                (dim.count - 1) * dim.step - 1;
  }
  if (withWeights && map.isBounded())
    map.weights.assign(map.numWeights(), 1.0 / double(map.taps()));
  return map;
}

/// The identity on data of type `x`, to be cropped or padded in space.
static std::optional<LinearMap> spatialIdentity(RankedTensorType x,
                                                bool channelsLast) {
  int64_t rank = x.getRank();
  if (rank < 3 || x.isDynamicDim(channelDim(rank, channelsLast)))
    return std::nullopt;
  return LinearMap::identity(x.getDimSize(channelDim(rank, channelsLast)),
                             rank - 2);
}

/// Padding with zeros, or cropping, of the spatial dimensions.
static std::optional<LinearMap> mapOfPad(nn::PadOp op, bool channelsLast) {
  RankedTensorType x = typeOf(op.getX());
  std::optional<LinearMap> map = spatialIdentity(x, channelsLast);
  if (!map || op.getMode() != nn::PadMode::constant ||
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
    map->dims[next].offset = -low;
    map->dims[next++].slack = low + high - 1;
  }
  return map;
}

/// The values that `scatters`, last first, put into a tensor of `shape`, NaN
/// where they leave it alone; nullopt if they are not constant.
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

/// Padding with zeros whose border is then overwritten, one number a channel:
/// how a module exports that pads with what its normalization makes of zero.
static std::optional<LinearMap> mapOfBorder(nn::ScatterNDOp last,
                                            bool channelsLast,
                                            bool withWeights, Value &data) {
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
  auto map = mapOfPad(pad, channelsLast);
  if (!map || !withWeights)
    return map;

  RankedTensorType type = typeOf(value);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t channel = channelDim(type.getRank(), channelsLast);
  auto values = scatteredValues(scatters, shape);
  if (!values)
    return std::nullopt;
  map->outside.assign(map->inputs, std::nan(""));
  SmallVector<int64_t> at(shape.size(), 0);
  for (double number : *values) {
    bool border = false;
    for (auto [i, size] : llvm::enumerate(shape))
      border |= at[i] < pad.getLow()[i] || at[i] >= size - pad.getHigh()[i];
    double &expected = map->outside[at[channel]];
    if (border && std::isnan(expected))
      expected = number;
    if (border ? number != expected : !std::isnan(number))
      return std::nullopt;
    size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1])
      at[--d] = 0;
  }
  if (llvm::any_of(map->outside, [](double v) { return std::isnan(v); }))
    return std::nullopt;
  return map;
}

/// Cropping with a positive step of the spatial dimensions.
static std::optional<LinearMap> mapOfSlice(nn::SliceOp op, bool channelsLast) {
  RankedTensorType x = typeOf(op.getX());
  std::optional<LinearMap> map = spatialIdentity(x, channelsLast);
  if (!map)
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
      MapDim &dim = map->dims[next];
      dim.offset = start;
      dim.stride = step;
      dim.slack = (size - 1) * step - x.getDimSize(i);
    }
    next += spatial;
  }
  return map;
}

static std::optional<LinearMap> mapOfAffine(Operation *op, bool channelsLast,
                                            Value &data) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  if (rank < 3)
    return std::nullopt;
  auto affine = matchAffine(op, channelDim(rank, channelsLast), data);
  if (!affine)
    return std::nullopt;
  LinearMap map = LinearMap::identity(affine->scale.size(), rank - 2);
  map.weights = std::move(affine->scale);
  map.bias = std::move(affine->shift);
  return map;
}

/// The map of one op, bounded or not.
static std::optional<LinearMap> mapOf(Operation *op, bool channelsLast,
                                      bool withWeights, Value &data) {
  if (auto conv = dyn_cast<nn::ConvOp>(op)) {
    data = conv.getX();
    if (conv.getChannelsLast() != channelsLast)
      return std::nullopt;
    return mapOfConv(conv, withWeights);
  }
  if (auto pool = dyn_cast<nn::AvgPoolOp>(op)) {
    data = pool.getX();
    if (pool.getChannelsLast() != channelsLast)
      return std::nullopt;
    return mapOfPool(pool, withWeights);
  }
  if (auto pad = dyn_cast<nn::PadOp>(op)) {
    data = pad.getX();
    return mapOfPad(pad, channelsLast);
  }
  if (auto scatter = dyn_cast<nn::ScatterNDOp>(op))
    return mapOfBorder(scatter, channelsLast, withWeights, data);
  if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    data = slice.getX();
    return mapOfSlice(slice, channelsLast);
  }
  if (isa<nn::BatchNormOp, nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp>(op))
    return mapOfAffine(op, channelsLast, data);
  return std::nullopt;
}

std::optional<LinearMap> graph::getLinearMap(Operation *op, bool channelsLast,
                                             bool withWeights, Value &data) {
  auto map = mapOf(op, channelsLast, withWeights, data);
  if (map && !map->isBounded())
    return std::nullopt;
  return map;
}

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

/// Whether `first` continued outside of its bounds gives what `second` takes
/// its operand to be there.
static bool bordersAgree(const LinearMap &first, const LinearMap &second) {
  if (first.bias.empty())
    return true;
  if (!first.outside.empty())
    return false;
  if (second.outside.empty())
    return !first.hasBias();
  // Exporters compute the border in fp32.
  double scale = 0;
  for (double value : second.outside)
    scale = std::max(scale, std::abs(value));
  return llvm::all_of(llvm::zip_equal(first.bias, second.outside),
                      [&](auto pair) {
                        auto [a, b] = pair;
                        return std::abs(a - b) <= 4e-6 * scale;
                      });
}

std::optional<LinearMap> graph::compose(const LinearMap &first,
                                        const LinearMap &second) {
  if (first.outputs != second.inputs || first.dims.size() != second.dims.size())
    return std::nullopt;
  LinearMap result;
  result.inputs = first.inputs;
  result.outputs = second.outputs;
  result.groups = std::gcd(first.groups, second.groups);
  result.outside = first.outside;
  for (auto [a, b] : llvm::zip_equal(first.dims, second.dims)) {
    // Beyond the result of `first` the second op reads its padding; the
    // composed map would read what `first` computes there.
    if (b.readsOutside() && !(a.isIdentity() && bordersAgree(first, second)))
      return std::nullopt;
    MapDim dim;
    dim.offset = a.offset + a.stride * b.offset;
    dim.stride = a.stride * b.stride;
    dim.slack = a.slack + a.stride * (1 + b.slack);
    int64_t step = std::gcd(a.count > 1 ? a.step : 0,
                            b.count > 1 ? a.stride * b.step : 0);
    dim.step = std::max<int64_t>(step, 1);
    dim.count = (a.last() + a.stride * b.last() - dim.offset) / dim.step + 1;
    result.dims.push_back(dim);
  }
  if (!result.isBounded())
    return std::nullopt;
  if (first.weights.empty() || second.weights.empty())
    return result;

  result.weights.assign(result.numWeights(), 0.0);
  result.bias = second.bias;
  int64_t middle = second.inputsOfGroup(), inputs = first.inputsOfGroup();
  int64_t outputsOfGroup = result.outputs / result.groups;
  int64_t tapsA = first.taps(), tapsB = second.taps(), taps = result.taps();
  // Where tap a of the first and b of the second land.
  int64_t pairs;
  if (llvm::MulOverflow(tapsA, tapsB, pairs) || pairs > kMaxWeights)
    return std::nullopt;
  std::vector<int64_t> landing(pairs);
  forEachTap(second.dims, [&](ArrayRef<int64_t> tapB, int64_t flatB) {
    forEachTap(first.dims, [&](ArrayRef<int64_t> tapA, int64_t flatA) {
      int64_t flat = 0;
      for (size_t d = 0; d < result.dims.size(); ++d) {
        const MapDim &a = first.dims[d], &b = second.dims[d];
        int64_t at = tapA[d] * a.step + a.stride * tapB[d] * b.step;
        flat = flat * result.dims[d].count + at / result.dims[d].step;
      }
      landing[flatB * tapsA + flatA] = flat;
    });
  });
  for (int64_t o = 0; o < result.outputs; ++o) {
    int64_t firstMiddle = o / (second.outputs / second.groups) * middle;
    int64_t firstInput = o / outputsOfGroup * result.inputsOfGroup();
    double *out = &result.weights[o * result.inputsOfGroup() * taps];
    for (int64_t m = 0; m < middle; ++m) {
      int64_t channel = firstMiddle + m;
      const double *b = &second.weights[(o * middle + m) * tapsB];
      int64_t groupInput =
          channel / (first.outputs / first.groups) * inputs - firstInput;
      for (int64_t t = 0; t < tapsB; ++t) {
        result.bias[o] += b[t] * first.bias[channel];
        for (int64_t i = 0; i < inputs; ++i) {
          const double *a = &first.weights[(channel * inputs + i) * tapsA];
          double *row = out + (groupInput + i) * taps;
          for (int64_t s = 0; s < tapsA; ++s)
            row[landing[t * tapsA + s]] += b[t] * a[s];
        }
      }
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

std::optional<LinearMap> graph::sumGeometry(const LinearMap &a,
                                            const LinearMap &b) {
  if (a.inputs != b.inputs || a.outputs != b.outputs ||
      a.dims.size() != b.dims.size())
    return std::nullopt;
  LinearMap sum;
  sum.inputs = a.inputs;
  sum.outputs = a.outputs;
  sum.groups = std::gcd(a.groups, b.groups);
  for (auto [x, y] : llvm::zip_equal(a.dims, b.dims)) {
    if (x.stride != y.stride)
      return std::nullopt;
    MapDim dim;
    dim.offset = std::min(x.offset, y.offset);
    dim.stride = x.stride;
    // Static shapes allow slacks that differ; see getPads.
    dim.slack = x.slack == y.slack ? x.slack : ShapedType::kDynamic;
    int64_t step = std::gcd(x.count > 1 ? x.step : 0, y.count > 1 ? y.step : 0);
    step = std::gcd(step, std::abs(x.offset - y.offset));
    dim.step = std::max<int64_t>(step, 1);
    dim.count = (std::max(x.last(), y.last()) - dim.offset) / dim.step + 1;
    sum.dims.push_back(dim);
    // A slack that is decided by the shapes is no number.
    if (ShapedType::isDynamic(dim.slack))
      dim.slack = 0;
    if (!dim.isBounded())
      return std::nullopt;
  }
  if (sum.numWeights() > kMaxWeights)
    return std::nullopt;
  return sum;
}

void graph::accumulate(LinearMap &sum, const LinearMap &part) {
  sum.weights.resize(sum.numWeights(), 0.0);
  sum.bias.resize(sum.outputs, 0.0);
  int64_t taps = part.taps(), sumTaps = sum.taps();
  std::vector<int64_t> landing(taps);
  forEachTap(part.dims, [&](ArrayRef<int64_t> tap, int64_t flat) {
    int64_t at = 0;
    for (auto [d, dim] : llvm::enumerate(sum.dims)) {
      const MapDim &own = part.dims[d];
      int64_t position = own.offset + tap[d] * own.step - dim.offset;
      at = at * dim.count + position / dim.step;
    }
    landing[flat] = at;
  });
  int64_t inputs = part.inputsOfGroup();
  for (int64_t o = 0; o < sum.outputs; ++o) {
    sum.bias[o] += part.bias[o];
    int64_t partInput = o / (part.outputs / part.groups) * inputs;
    int64_t sumInput = o / (sum.outputs / sum.groups) * sum.inputsOfGroup();
    for (int64_t i = 0; i < inputs; ++i) {
      const double *from = &part.weights[(o * inputs + i) * taps];
      double *to = &sum.weights[(o * sum.inputsOfGroup() + partInput + i -
                                 sumInput) * sumTaps];
      for (int64_t t = 0; t < taps; ++t)
        to[landing[t]] += from[t];
    }
  }
}

std::optional<SmallVector<int64_t>>
graph::getPads(const LinearMap &map, ArrayRef<int64_t> operand,
               ArrayRef<int64_t> result) {
  size_t n = map.dims.size();
  SmallVector<int64_t> pads(2 * n);
  for (auto [i, dim] : llvm::enumerate(map.dims)) {
    int64_t begin = -dim.offset, span = dim.last() - dim.offset + 1, end = -1;
    if (!ShapedType::isDynamic(dim.slack))
      end = dim.slack + span - begin;
    if (end < 0 && !ShapedType::isDynamic(operand[i]) &&
        !ShapedType::isDynamic(result[i])) {
      // Up to stride - 1 more positions than needed change nothing.
      end = (result[i] - 1) * dim.stride + span - operand[i] - begin;
      if (end < 0)
        end = std::min<int64_t>(0, end + dim.stride - 1);
    }
    if (begin < 0 || end < 0)
      return std::nullopt;
    pads[i] = begin;
    pads[n + i] = end;
  }
  return pads;
}
