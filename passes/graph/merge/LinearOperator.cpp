//===- LinearOperator.cpp - linear ops as one convolution -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/merge/LinearOperator.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;

/// Limit of the number of weights of an operator. So many weights take half a
/// gigabyte in f64.
static constexpr int64_t kMaxWeights = int64_t(1) << 26;

bool OperatorDim::isBounded() const {
  // Limit of the numbers that describe a dimension. With this limit, a product
  // of two numbers, and a sum of three such products, fit in 64 bits.
  constexpr int64_t kMaxNumber = int64_t(1) << 30;
  for (int64_t value : {offset, step, count, stride, slack})
    if (value > kMaxNumber || value < -kMaxNumber)
      return false;
  return last() <= kMaxNumber;
}

int64_t LinearOperator::taps() const {
  int64_t taps = 1;
  for (const OperatorDim &dim : dims)
    if (llvm::MulOverflow(taps, dim.count, taps))
      return std::numeric_limits<int64_t>::max();
  return taps;
}

int64_t LinearOperator::numWeights() const {
  int64_t count = taps();
  if (llvm::MulOverflow(count, outputs, count) ||
      llvm::MulOverflow(count, inputsOfGroup(), count))
    return std::numeric_limits<int64_t>::max();
  return count;
}

bool LinearOperator::isBounded() const {
  return numWeights() <= kMaxWeights &&
         llvm::all_of(dims,
                      [](const OperatorDim &dim) { return dim.isBounded(); });
}

bool LinearOperator::hasBias() const {
  return llvm::any_of(bias, [](double v) { return v != 0; });
}

LinearOperator LinearOperator::identity(int64_t channels, int64_t spatialDims) {
  LinearOperator linear;
  linear.inputs = linear.outputs = linear.groups = channels;
  linear.dims.resize(spatialDims);
  if (!linear.isBounded())
    return linear;
  linear.weights.assign(channels, 1.0);
  linear.bias.assign(channels, 0.0);
  return linear;
}

/// Calls `visit(tap of each dimension, flat tap)` for all taps in row-major
/// order.
template <typename Visit>
static void forEachTap(ArrayRef<OperatorDim> dims, Visit visit) {
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
// Composition
//===----------------------------------------------------------------------===//

/// Returns true if `second` assumes, outside of its operand, the values that
/// `first` computes there.
static bool bordersAgree(const LinearOperator &first,
                         const LinearOperator &second) {
  if (first.bias.empty())
    return true;
  if (!first.outside.empty())
    return false;
  if (second.outside.empty())
    return !first.hasBias();
  // Allow rounding errors, because exporters compute the border in f32.
  double scale = 0;
  for (double value : second.outside)
    scale = std::max(scale, std::abs(value));
  return llvm::all_of(llvm::zip_equal(first.bias, second.outside),
                      [&](auto pair) {
                        auto [a, b] = pair;
                        return std::abs(a - b) <= 4e-6 * scale;
                      });
}

std::optional<LinearOperator> graph::compose(const LinearOperator &first,
                                             const LinearOperator &second) {
  if (first.outputs != second.inputs || first.dims.size() != second.dims.size())
    return std::nullopt;
  LinearOperator result;
  result.inputs = first.inputs;
  result.outputs = second.outputs;
  result.groups = std::gcd(first.groups, second.groups);
  result.outside = first.outside;
  for (auto [a, b] : llvm::zip_equal(first.dims, second.dims)) {
    // The second op reads its own padding outside of the result of `first`. The
    // composed operator would instead read values that `first` computes there.
    // Both must be equal.
    if (b.readsOutside() && !(a.isIdentity() && bordersAgree(first, second)))
      return std::nullopt;
    OperatorDim dim;
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
  // The tap of the result for each pair of a tap of `first` and a tap of
  // `second`.
  int64_t pairs;
  if (llvm::MulOverflow(tapsA, tapsB, pairs) || pairs > kMaxWeights)
    return std::nullopt;
  std::vector<int64_t> landing(pairs);
  forEachTap(second.dims, [&](ArrayRef<int64_t> tapB, int64_t flatB) {
    forEachTap(first.dims, [&](ArrayRef<int64_t> tapA, int64_t flatA) {
      int64_t flat = 0;
      for (size_t d = 0; d < result.dims.size(); ++d) {
        const OperatorDim &a = first.dims[d], &b = second.dims[d];
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

std::optional<LinearOperator> graph::sumGeometry(const LinearOperator &a,
                                                 const LinearOperator &b) {
  if (a.inputs != b.inputs || a.outputs != b.outputs ||
      a.dims.size() != b.dims.size())
    return std::nullopt;
  LinearOperator sum;
  sum.inputs = a.inputs;
  sum.outputs = a.outputs;
  sum.groups = std::gcd(a.groups, b.groups);
  for (auto [x, y] : llvm::zip_equal(a.dims, b.dims)) {
    if (x.stride != y.stride)
      return std::nullopt;
    OperatorDim dim;
    dim.offset = std::min(x.offset, y.offset);
    dim.stride = x.stride;
    // With static shapes the slacks may differ; see getPads.
    dim.slack = x.slack == y.slack ? x.slack : ShapedType::kDynamic;
    int64_t step = std::gcd(x.count > 1 ? x.step : 0, y.count > 1 ? y.step : 0);
    step = std::gcd(step, std::abs(x.offset - y.offset));
    dim.step = std::max<int64_t>(step, 1);
    dim.count = (std::max(x.last(), y.last()) - dim.offset) / dim.step + 1;
    sum.dims.push_back(dim);
    // Replace a slack that depends on the shapes, because it is not a number.
    if (ShapedType::isDynamic(dim.slack))
      dim.slack = 0;
    if (!dim.isBounded())
      return std::nullopt;
  }
  if (sum.numWeights() > kMaxWeights)
    return std::nullopt;
  return sum;
}

void graph::accumulate(LinearOperator &sum, const LinearOperator &part) {
  sum.weights.resize(sum.numWeights(), 0.0);
  sum.bias.resize(sum.outputs, 0.0);
  int64_t taps = part.taps(), sumTaps = sum.taps();
  std::vector<int64_t> landing(taps);
  forEachTap(part.dims, [&](ArrayRef<int64_t> tap, int64_t flat) {
    int64_t at = 0;
    for (auto [d, dim] : llvm::enumerate(sum.dims)) {
      const OperatorDim &own = part.dims[d];
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

std::optional<SmallVector<int64_t>> graph::getPads(const LinearOperator &linear,
                                                   ArrayRef<int64_t> operand,
                                                   ArrayRef<int64_t> result) {
  size_t n = linear.dims.size();
  SmallVector<int64_t> pads(2 * n);
  for (auto [i, dim] : llvm::enumerate(linear.dims)) {
    int64_t begin = -dim.offset, span = dim.last() - dim.offset + 1, end = -1;
    if (!ShapedType::isDynamic(dim.slack))
      end = dim.slack + span - begin;
    if (end < 0 && !ShapedType::isDynamic(operand[i]) &&
        !ShapedType::isDynamic(result[i])) {
      // Up to stride - 1 unused elements at the end do not change the result.
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
