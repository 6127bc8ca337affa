//===- PostOpTest.cpp - post-ops of operations ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/dnnl/Harness.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ingot::test;

static const ConvolutionSpec kSpec{{1, 16, 6, 6}, {16, 16, 3, 3}, 1, {1, 1},
                                   {1, 1},        {1, 1},         {1, 1}};

namespace {

struct Eltwise {
  const char *name;
  int64_t algorithm;
  float alpha, beta;
  double (*function)(double x);
};

} // namespace

class EltwisePostOp : public testing::TestWithParam<Eltwise> {};

TEST_P(EltwisePostOp, EqualsReference) {
  const Eltwise &eltwise = GetParam();
  OperationSpec operation = kSpec.make();
  View want = kSpec.reference(operation);
  bool positive = eltwise.algorithm == INGOT_DNNL_SQRT ||
                  eltwise.algorithm == INGOT_DNNL_LOG;
  if (positive)
    operation.postOps.push_back({INGOT_DNNL_ELTWISE, INGOT_DNNL_SQUARE});
  operation.postOps.push_back(
      {INGOT_DNNL_ELTWISE, eltwise.algorithm, eltwise.alpha, eltwise.beta});
  for (float &value : want.data)
    value = float(
        eltwise.function(positive ? double(value) * value : double(value)));
  expectNear(evaluate(operation), want);
}

static double clamp01(double x) { return std::fmax(0, std::fmin(1, x)); }

INSTANTIATE_TEST_SUITE_P(
    Kinds, EltwisePostOp,
    testing::Values(
        Eltwise{"relu", INGOT_DNNL_RELU, 0, 0,
                [](double x) { return x > 0 ? x : 0; }},
        Eltwise{"leaky_relu", INGOT_DNNL_RELU, 0.1f, 0,
                [](double x) { return x > 0 ? x : 0.1 * x; }},
        Eltwise{"tanh", INGOT_DNNL_TANH, 0, 0,
                [](double x) { return std::tanh(x); }},
        Eltwise{"elu", INGOT_DNNL_ELU, 0.5f, 0,
                [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); }},
        Eltwise{"square", INGOT_DNNL_SQUARE, 0, 0,
                [](double x) { return x * x; }},
        Eltwise{"abs", INGOT_DNNL_ABS, 0, 0,
                [](double x) { return std::fabs(x); }},
        Eltwise{"sqrt", INGOT_DNNL_SQRT, 0, 0,
                [](double x) { return std::sqrt(x); }},
        Eltwise{"linear", INGOT_DNNL_LINEAR, 2, -1,
                [](double x) { return 2 * x - 1; }},
        Eltwise{"softplus", INGOT_DNNL_SOFTPLUS, 1, 0,
                [](double x) { return std::log1p(std::exp(x)); }},
        Eltwise{"hard_sigmoid", INGOT_DNNL_HARD_SIGMOID, 0.2f, 0.5f,
                [](double x) { return clamp01(0.2 * x + 0.5); }},
        Eltwise{"sigmoid", INGOT_DNNL_SIGMOID, 0, 0,
                [](double x) { return 1 / (1 + std::exp(-x)); }},
        Eltwise{"exp", INGOT_DNNL_EXP, 0, 0,
                [](double x) { return std::exp(x); }},
        Eltwise{"gelu_tanh", INGOT_DNNL_GELU_TANH, 0, 0,
                [](double x) {
                  return x / 2 *
                         (1 + std::tanh(std::sqrt(2 / M_PI) *
                                        (x + 0.044715 * x * x * x)));
                }},
        Eltwise{"gelu_erf", INGOT_DNNL_GELU_ERF, 0, 0,
                [](double x) {
                  return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
                }},
        Eltwise{"swish", INGOT_DNNL_SWISH, 1, 0,
                [](double x) { return x / (1 + std::exp(-x)); }},
        Eltwise{"log", INGOT_DNNL_LOG, 0, 0,
                [](double x) { return std::log(x); }},
        Eltwise{"clip", INGOT_DNNL_CLIP, -1, 2,
                [](double x) { return std::fmin(2, std::fmax(-1, x)); }},
        Eltwise{"hard_swish", INGOT_DNNL_HARD_SWISH, 1 / 6.f, 0.5f,
                [](double x) { return x * clamp01(x / 6 + 0.5); }}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(PostOps, ResidualInPlaceThenRelu) {
  OperationSpec operation = kSpec.make();
  View residual = operation.operands.back().view;
  View want = kSpec.reference(operation);
  operation.postOps = {{INGOT_DNNL_SUM}, {INGOT_DNNL_ELTWISE, INGOT_DNNL_RELU}};
  for (size_t i = 0; i < want.data.size(); ++i)
    want.data[i] = std::fmax(0.f, want.data[i] + residual.data[i]);
  expectNear(evaluate(operation), want);
}

TEST(PostOps, BinaryOfEachShape) {
  double (*functions[])(double, double) = {
      [](double x, double y) { return x + y; },
      [](double x, double y) { return x * y; },
      [](double x, double y) { return x - y; },
      [](double x, double y) { return x / y; },
      [](double x, double y) { return std::fmax(x, y); },
      [](double x, double y) { return std::fmin(x, y); }};
  for (int64_t algorithm = INGOT_DNNL_ADD; algorithm <= INGOT_DNNL_MIN;
       ++algorithm)
    for (const Dims &dims : {Dims{1, 16, 6, 6}, {1, 16, 1, 1}, {1, 1, 1, 1}})
      for (bool constant : {false, true}) {
        OperationSpec operation = kSpec.make();
        View want = kSpec.reference(operation);
        View other = random(channelsLast(dims), 9);
        for (float &value : other.data)
          value = value + 2; // away from zero, for the division
        int64_t index = operation.operands.size();
        operation.operands.push_back({INGOT_DNNL_OPERAND, other, constant});
        operation.postOps = {
            {INGOT_DNNL_BINARY, algorithm, 0, 0, index},
            {INGOT_DNNL_ELTWISE, INGOT_DNNL_LINEAR, 0.5f, 1.0f}};
        forEach(want.dims, [&](const Dims &i) {
          want.at(i) = float(
              functions[algorithm](want.at(i), other.broadcast(i)) * 0.5 + 1);
        });
        expectNear(evaluate(operation), want);
      }
}

TEST(PostOps, MatMulBiasGeluResidual) {
  OperationSpec operation{
      INGOT_DNNL_MATMUL,
      {},
      {{INGOT_DNNL_SRC, random(plain({10, 24}), 1)},
       {INGOT_DNNL_WEIGHTS, random(plain({24, 32}), 2), true},
       {INGOT_DNNL_BIAS, random(plain({1, 32}), 3), true},
       {INGOT_DNNL_OPERAND, random(plain({10, 32}), 4)},
       {INGOT_DNNL_DST, plain({10, 32})}},
      {{INGOT_DNNL_ELTWISE, INGOT_DNNL_GELU_ERF},
       {INGOT_DNNL_BINARY, INGOT_DNNL_ADD, 0, 0, 3}}};
  View want = plain({10, 32});
  auto view = [&](int i) -> View & { return operation.operands[i].view; };
  forEach(want.dims, [&](const Dims &i) {
    double sum = view(2).data[i[1]];
    for (int64_t k = 0; k < 24; ++k)
      sum += double(view(0).at({i[0], k})) * view(1).at({k, i[1]});
    want.at(i) = float(sum / 2 * (1 + std::erf(sum / std::sqrt(2.0))) +
                       view(3).at(i));
  });
  expectNear(evaluate(operation), want);
}
