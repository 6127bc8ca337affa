//===- GlueTest.cpp - every kind of operation against a plain reference ---===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/dnnl/Harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace ingot::test;

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

class Convolution : public testing::TestWithParam<ConvolutionSpec> {};

TEST_P(Convolution, EqualsReference) {
  OperationSpec operation = GetParam().make();
  expectNear(evaluate(operation), GetParam().reference(operation));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Convolution,
    testing::Values(
        // 1x1, 3x3, first layer, strided, dilated, asymmetric pads
        ConvolutionSpec{
            {1, 16, 7, 7}, {32, 16, 1, 1}, 1, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
        ConvolutionSpec{
            {2, 16, 9, 7}, {24, 16, 3, 3}, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
        ConvolutionSpec{
            {1, 3, 17, 19}, {16, 3, 7, 7}, 1, {2, 2}, {1, 1}, {3, 3}, {3, 3}},
        ConvolutionSpec{
            {1, 8, 12, 12}, {8, 8, 3, 3}, 1, {2, 1}, {1, 2}, {0, 2}, {1, 2}},
        ConvolutionSpec{
            {1, 5, 6, 11}, {7, 5, 1, 3}, 1, {1, 1}, {1, 1}, {0, 1}, {0, 1}},
        // grouped, depthwise, depthwise with a multiplier
        ConvolutionSpec{
            {1, 16, 8, 8}, {32, 4, 3, 3}, 4, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
        ConvolutionSpec{
            {1, 32, 8, 8}, {32, 1, 3, 3}, 32, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
        ConvolutionSpec{
            {1, 6, 8, 8}, {12, 1, 3, 3}, 6, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
        // no bias, weights that are not constant
        ConvolutionSpec{{1, 8, 5, 5},
                        {8, 8, 3, 3},
                        1,
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        false},
        ConvolutionSpec{{1, 8, 5, 5},
                        {8, 8, 3, 3},
                        1,
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        true,
                        false},
        ConvolutionSpec{{1, 64, 14, 14},
                        {32, 64, 3, 3},
                        1,
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        true,
                        false},
        ConvolutionSpec{{1, 32, 8, 8},
                        {32, 1, 3, 3},
                        32,
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        {1, 1},
                        true,
                        false},
        // 1-D, 3-D
        ConvolutionSpec{{2, 8, 20}, {16, 8, 5}, 1, {2}, {1}, {2}, {2}},
        ConvolutionSpec{{1, 8, 20}, {8, 1, 3}, 8, {1}, {2}, {2}, {2}},
        ConvolutionSpec{{1, 4, 5, 6, 7},
                        {8, 4, 3, 3, 3},
                        1,
                        {1, 2, 1},
                        {1, 1, 1},
                        {1, 1, 1},
                        {1, 1, 1}}));

// For this convolution oneDNN has only reference code on one thread.
TEST(Pointwise, RunsAsMatrixProduct) {
  const int64_t in = 1024, out = 512, pixels = 14 * 14;
  ConvolutionSpec spec{{1, in, 14, 14}, {out, in, 1, 1}, 1, {1, 1},
                       {1, 1},          {0, 0},          {0, 0}};
  OperationSpec operation = spec.make();
  const float *x = operation.operands[0].view.data.data();
  const float *w = operation.operands[1].view.data.data();
  View want = operation.operands.back().view;
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t o = 0; o < out; ++o) {
      double sum = operation.operands[2].view.data[o];
      for (int64_t c = 0; c < in; ++c)
        sum += double(x[p * in + c]) * w[o * in + c];
      want.data[p * out + o] = float(sum);
    }
  expectNear(evaluate(operation, /*numThreads=*/1), want);
}

/// Returns the values as one half of the channels of a wider tensor.
static View sliceOf(const View &view) {
  View wide = view;
  wide.dims[1] *= 2;
  wide = channelsLast(wide.dims);
  wide.dims = view.dims;
  forEach(view.dims, [&](const Dims &i) { wide.at(i) = view.broadcast(i); });
  return wide;
}

// Halves of a split or a concatenation, for which oneDNN only has reference
// code.
TEST(Slices, Convolution) {
  for (int64_t kernel : {1, 3})
    for (bool sum : {false, true}) {
      int64_t pad = kernel / 2;
      ConvolutionSpec spec{{1, 16, 7, 7}, {24, 16, kernel, kernel}, 1, {1, 1},
                           {1, 1},        {pad, pad},               {pad, pad}};
      OperationSpec operation = spec.make();
      View want = spec.reference(operation);
      View before = operation.operands.back().view;
      if (sum) {
        operation.postOps = {{INGOT_DNNL_SUM}};
        for (size_t i = 0; i < want.data.size(); ++i)
          want.data[i] += before.data[i];
      }
      operation.operands.front().view = sliceOf(operation.operands[0].view);
      operation.operands.back().view = sliceOf(before);
      expectNear(evaluate(operation), want);
    }
}

TEST(Slices, PoolingLeavesTheOtherHalfAlone) {
  OperationSpec operation{
      INGOT_DNNL_POOL_MAX,
      {2, 2, 2, 2, 1, 1, 0, 0, 0, 0},
      {{INGOT_DNNL_SRC, random(channelsLast({1, 8, 6, 6}), 1)},
       {INGOT_DNNL_DST, channelsLast({1, 8, 3, 3})}}};
  View want = evaluate(operation);
  operation.operands[1].view = sliceOf(operation.operands[1].view);
  for (float &value : operation.operands[1].view.data)
    value = 42;
  View got = evaluate(operation);
  expectNear(got, want);
  EXPECT_EQ(std::count(got.data.begin(), got.data.end(), 42.0f), 8 * 9);
}

TEST(Deconvolution, EqualsReference) {
  for (int64_t groups : {1, 2}) {
    const int64_t in = 4, out = 6, size = 5, kernel = 3, stride = 2, pad = 1;
    const int64_t result = (size - 1) * stride + kernel - 2 * pad + 1;
    Dims w{out / groups, in / groups, kernel, kernel};
    if (groups > 1)
      w.insert(w.begin(), groups);
    OperationSpec operation{
        INGOT_DNNL_DECONVOLUTION,
        {stride, stride, 1, 1, pad, pad, pad - 1, pad - 1},
        {{INGOT_DNNL_SRC, random(channelsLast({1, in, size, size}), 1)},
         {INGOT_DNNL_WEIGHTS, random(plain(w), 2), true},
         {INGOT_DNNL_BIAS, random(plain({out}), 3), true},
         {INGOT_DNNL_DST, channelsLast({1, out, result, result})}}};
    View x = operation.operands[0].view, filter = operation.operands[1].view;
    View want = operation.operands[3].view;
    forEach(want.dims, [&](const Dims &i) {
      want.at(i) = operation.operands[2].view.data[i[1]];
    });
    forEach({in, size, size, out / groups, kernel, kernel}, [&](const Dims &i) {
      int64_t group = i[0] / (in / groups);
      Dims to{0, group * (out / groups) + i[3], i[1] * stride + i[4] - pad,
              i[2] * stride + i[5] - pad};
      if (to[2] < 0 || to[2] >= result || to[3] < 0 || to[3] >= result)
        return;
      Dims at{i[3], i[0] % (in / groups), i[4], i[5]};
      if (groups > 1)
        at.insert(at.begin(), group);
      want.at(to) += x.at({0, i[0], i[1], i[2]}) * filter.at(at);
    });
    expectNear(evaluate(operation), want);
    // For half of a concatenation, oneDNN's reference code would write past its
    // scratch memory.
    operation.operands[3].view = sliceOf(operation.operands[3].view);
    expectNear(evaluate(operation), want);
  }
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

static void checkMatMul(View a, View b, View bias, bool constant, Dims result) {
  OperationSpec operation{INGOT_DNNL_MATMUL,
                          {},
                          {{INGOT_DNNL_SRC, random(a, 1)},
                           {INGOT_DNNL_WEIGHTS, random(b, 2), constant}}};
  if (!bias.dims.empty())
    operation.operands.push_back({INGOT_DNNL_BIAS, random(bias, 3), constant});
  operation.operands.push_back({INGOT_DNNL_DST, plain(result)});
  View want = plain(result);
  size_t rank = result.size();
  forEach(result, [&](const Dims &index) {
    double sum = bias.dims.empty()
                     ? 0.0
                     : operation.operands[2].view.broadcast(index);
    for (int64_t k = 0; k < a.dims.back(); ++k) {
      Dims left = index, right = index;
      left[rank - 1] = right[rank - 2] = k;
      sum += double(operation.operands[0].view.broadcast(left)) *
             operation.operands[1].view.broadcast(right);
    }
    want.at(index) = float(sum);
  });
  expectNear(evaluate(operation), want);
}

TEST(MatMul, ConstantWeights) {
  checkMatMul(plain({17, 33}), plain({33, 20}), plain({1, 20}), true, {17, 20});
}
TEST(MatMul, RowVector) {
  checkMatMul(plain({1, 256}), plain({256, 100}), plain({1, 100}), true,
              {1, 100});
}
TEST(MatMul, Transposed) {
  checkMatMul(transposed({5, 8}), transposed({8, 12}), {}, true, {5, 12});
  checkMatMul(transposed({5, 8}), transposed({8, 12}), {}, false, {5, 12});
}
TEST(MatMul, Batched) {
  checkMatMul(plain({3, 5, 8}), transposed({3, 8, 6}), {}, false, {3, 5, 6});
  checkMatMul(plain({2, 3, 5, 8}), plain({2, 3, 8, 6}), {}, false,
              {2, 3, 5, 6});
}
TEST(MatMul, Broadcast) {
  checkMatMul(plain({3, 5, 8}), plain({1, 8, 6}), {}, false, {3, 5, 6});
  checkMatMul(plain({1, 3, 5, 8}), plain({2, 1, 8, 6}), plain({1, 1, 1, 6}),
              false, {2, 3, 5, 6});
  checkMatMul(plain({4, 2, 5, 8}), plain({1, 1, 8, 6}), {}, true, {4, 2, 5, 6});
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

TEST(Pooling, EqualsReference) {
  for (int64_t kind : {INGOT_DNNL_POOL_MAX, INGOT_DNNL_POOL_AVG,
                       INGOT_DNNL_POOL_AVG_PADDED}) {
    // kernel 3x2, strides 2x1, dilations 1x2, pads 1,1 and 1,0
    Dims x{2, 16, 9, 8}, y{2, 16, 5, 7};
    OperationSpec operation{kind,
                            {3, 2, 2, 1, 1, 2, 1, 1, 1, 0},
                            {{INGOT_DNNL_SRC, random(channelsLast(x), 1)},
                             {INGOT_DNNL_DST, channelsLast(y)}}};
    View input = operation.operands[0].view, want = channelsLast(y);
    forEach(y, [&](const Dims &i) {
      double sum = 0, highest = -INFINITY, count = 0;
      forEach({3, 2}, [&](const Dims &tap) {
        int64_t row = i[2] * 2 + tap[0] - 1, column = i[3] + tap[1] * 2 - 1;
        if (row < 0 || row >= x[2] || column < 0 || column >= x[3])
          return;
        double value = input.at({i[0], i[1], row, column});
        sum += value;
        highest = std::max(highest, value);
        ++count;
      });
      want.at(i) = float(kind == INGOT_DNNL_POOL_MAX   ? highest
                         : kind == INGOT_DNNL_POOL_AVG ? sum / count
                                                       : sum / 6);
    });
    expectNear(evaluate(operation), want);
  }
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

TEST(Softmax, EqualsReference) {
  for (int64_t axis : {0, 1, 2})
    for (int64_t log : {0, 1}) {
      Dims dims{3, 5, 37};
      OperationSpec operation{INGOT_DNNL_SOFTMAX,
                              {axis, log},
                              {{INGOT_DNNL_SRC, random(plain(dims), 1)},
                               {INGOT_DNNL_DST, plain(dims)}}};
      View x = operation.operands[0].view, want = plain(dims);
      forEach(dims, [&](const Dims &i) {
        double sum = 0;
        for (int64_t k = 0; k < dims[axis]; ++k) {
          Dims at = i;
          at[axis] = k;
          sum += std::exp(double(x.at(at)));
        }
        want.at(i) = float(log ? x.at(i) - std::log(sum)
                               : std::exp(double(x.at(i))) / sum);
      });
      expectNear(evaluate(operation), want);
    }
}

TEST(LayerNorm, EqualsReference) {
  for (bool affine : {false, true}) {
    Dims dims{4, 6, 50};
    float epsilon = 1e-3f;
    int32_t word;
    memcpy(&word, &epsilon, sizeof(word));
    OperationSpec operation{INGOT_DNNL_LAYER_NORM,
                            {word},
                            {{INGOT_DNNL_SRC, random(plain(dims), 1)}}};
    View scale = random(plain({50}), 2), shift = random(plain({50}), 3);
    if (affine) {
      operation.operands.push_back({INGOT_DNNL_SCALE, scale, true});
      operation.operands.push_back({INGOT_DNNL_SHIFT, shift, true});
    }
    operation.operands.push_back({INGOT_DNNL_DST, plain(dims)});
    View x = operation.operands[0].view, want = plain(dims);
    forEach(dims, [&](const Dims &i) {
      double mean = 0, variance = 0;
      for (int64_t k = 0; k < 50; ++k)
        mean += x.at({i[0], i[1], k}) / 50.0;
      for (int64_t k = 0; k < 50; ++k)
        variance += std::pow(x.at({i[0], i[1], k}) - mean, 2) / 50.0;
      double value = (x.at(i) - mean) / std::sqrt(variance + epsilon);
      want.at(i) = float(affine ? value * scale.data[i[2]] + shift.data[i[2]]
                                : value);
    });
    expectNear(evaluate(operation), want);
  }
}
