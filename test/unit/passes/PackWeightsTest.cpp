//===- PackWeightsTest.cpp - weights in panels ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/PackWeights.h"

#include "dialects/nn/Constants.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace ingot::cpu;
using mlir::ElementsAttr;

namespace {

using Shape = std::vector<int64_t>;

int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

class PackWeights : public testing::Test {
protected:
  /// Returns the elements 1, 2, 3, …; padding holds 0.
  ElementsAttr count(const Shape &shape) {
    std::vector<float> values(product(shape));
    std::iota(values.begin(), values.end(), 1.0f);
    auto type = mlir::RankedTensorType::get(
        shape, mlir::Float32Type::get(&context));
    return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(values));
  }

  /// Returns the bits of the elements, each as an `Element`.
  template <typename Element>
  std::vector<Element> bitsOf(ElementsAttr attr, const Shape &shape) {
    EXPECT_EQ(Shape(attr.getShapedType().getShape()), shape);
    std::vector<char> storage;
    std::optional<llvm::ArrayRef<char>> bytes =
        ingot::nn::getRawBytes(attr, storage);
    EXPECT_TRUE(bytes && bytes->size() == product(shape) * sizeof(Element));
    std::vector<Element> values(product(shape));
    if (bytes)
      std::memcpy(values.data(), bytes->data(),
                  std::min(bytes->size(), values.size() * sizeof(Element)));
    return values;
  }

  std::vector<float> valuesOf(ElementsAttr attr, const Shape &shape) {
    if (attr.getElementType().isF32())
      return bitsOf<float>(attr, shape);
    std::vector<float> values;
    for (uint16_t half : bitsOf<uint16_t>(attr, shape)) {
      uint32_t whole = uint32_t(half) << 16;
      values.emplace_back();
      std::memcpy(&values.back(), &whole, sizeof(whole));
    }
    return values;
  }

  /// Returns `value`, an integer, rounded to the element type.
  float hold(float value) const {
    if (element.isF32())
      return value;
    llvm::APFloat number(value);
    bool isInexact;
    number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                   &isInexact);
    return number.convertToFloat();
  }

  /// Runs `checks` with panels of f32, then with pairs of bf16.
  template <typename Checks> void forEachType(Checks checks) {
    checks();
    element = mlir::BFloat16Type::get(&context);
    group = 2;
    checks();
  }

  void checkConv(int64_t outputs, int64_t inputs, const Shape &kernel,
                 int64_t groups);
  void checkMatMul(const Shape &batch, int64_t depth, int64_t columns,
                   bool transposed);

  mlir::MLIRContext context;
  /// Element type of the packed weights, and the number of neighboring k in a
  /// group.
  mlir::Type element = mlir::Float32Type::get(&context);
  int64_t group = 1;
};

void PackWeights::checkConv(int64_t outputs, int64_t inputs,
                            const Shape &kernel, int64_t groups) {
  Shape shape = {outputs, inputs};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  int64_t taps = product(kernel), perGroup = outputs / groups;
  int64_t width = panelWidth(perGroup);
  int64_t panels = (perGroup + width - 1) / width;
  Shape packed = {groups * panels};
  packed.insert(packed.end(), kernel.begin(), kernel.end());
  int64_t channelGroups = (inputs + group - 1) / group;
  packed.insert(packed.end(), {channelGroups, width});
  if (group > 1)
    packed.push_back(group);
  std::vector<float> got =
      valuesOf(packConvWeights(count(shape), groups, element), packed);
  size_t at = 0;
  for (int64_t p = 0; p < groups * panels; ++p)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t i = 0; i < channelGroups * width * group; ++i) {
        int64_t c = i / (width * group) * group + i % group;
        int64_t lane = i / group % width;
        int64_t inGroup = p % panels * width + lane;
        int64_t output = p / panels * perGroup + inGroup;
        float want = inGroup < perGroup && c < inputs
                         ? 1 + (output * inputs + c) * taps + tap
                         : 0;
        ASSERT_EQ(got[at++], hold(want))
            << "panel " << p << " tap " << tap << " channel " << c << " lane "
            << lane;
      }
}

void PackWeights::checkMatMul(const Shape &batch, int64_t depth,
                              int64_t columns, bool transposed) {
  Shape shape = batch;
  shape.insert(shape.end(), {transposed ? columns : depth,
                             transposed ? depth : columns});
  int64_t width = panelWidth(columns);
  int64_t panels = (columns + width - 1) / width;
  Shape packed = batch;
  int64_t depthGroups = (depth + group - 1) / group;
  packed.insert(packed.end(), {panels, depthGroups, width});
  if (group > 1)
    packed.push_back(group);
  std::vector<float> got =
      valuesOf(packMatMulWeights(count(shape), transposed, element), packed);
  size_t at = 0;
  for (int64_t b = 0; b < product(batch); ++b)
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t i = 0; i < depthGroups * width * group; ++i) {
        int64_t k = i / (width * group) * group + i % group;
        int64_t lane = i / group % width, j = p * width + lane;
        int64_t from = transposed ? j * depth + k : k * columns + j;
        float want =
            j < columns && k < depth ? 1 + b * depth * columns + from : 0;
        ASSERT_EQ(got[at++], hold(want))
            << "batch " << b << " panel " << p << " k " << k << " lane "
            << lane;
      }
}

// The width of a panel is one that every level's registers divide. The zeros
// behind the last channel never make weights much larger.
TEST_F(PackWeights, PanelWidth) {
  EXPECT_EQ(panelWidth(1), 16);
  EXPECT_EQ(panelWidth(16), 16);
  EXPECT_EQ(panelWidth(32), 32);
  EXPECT_EQ(panelWidth(48), 16);
  EXPECT_EQ(panelWidth(1000), 32);
  for (int64_t channels = 1; channels <= 2100; ++channels) {
    int64_t width = panelWidth(channels);
    ASSERT_TRUE(width == 16 || width == 32 || width == 64);
    int64_t least = (channels + 15) / 16 * 16;
    ASSERT_LE((channels + width - 1) / width * width * 8, least * 9)
        << channels;
  }
}

TEST_F(PackWeights, Conv) {
  forEachType([&] {
    checkConv(5, 3, {2, 3}, 1);
    checkConv(16, 2, {3}, 1);
    checkConv(33, 2, {1, 1}, 1);
    checkConv(70, 3, {2, 1, 2}, 1);
  });
}

TEST_F(PackWeights, GroupsHavePanelsOfTheirOwn) {
  forEachType([&] {
    checkConv(6, 2, {3, 3}, 3);
    checkConv(40, 1, {2}, 2);
    checkConv(99, 4, {1}, 3);
  });
}

TEST_F(PackWeights, Depthwise) {
  std::vector<float> got =
      valuesOf(packDepthwiseWeights(count({5, 1, 2, 3})), {2, 3, 5});
  for (int64_t tap = 0; tap < 6; ++tap)
    for (int64_t c = 0; c < 5; ++c)
      EXPECT_EQ(got[tap * 5 + c], 1 + c * 6 + tap);
}

TEST_F(PackWeights, MatMul) {
  forEachType([&] {
    for (bool transposed : {false, true}) {
      checkMatMul({}, 3, 5, transposed);
      checkMatMul({}, 7, 33, transposed);
      checkMatMul({2, 3}, 4, 20, transposed);
      checkMatMul({4}, 1, 64, transposed);
    }
  });
}

// Rounds to the nearest bf16, ties to even. A NaN stays a NaN, even if only its
// lower bits are set.
TEST_F(PackWeights, RoundsToBF16) {
  std::vector<std::pair<uint32_t, uint16_t>> cases = {
      {0x3f800000, 0x3f80}, {0x3f807fff, 0x3f80}, {0x3f808000, 0x3f80},
      {0x3f808001, 0x3f81}, {0x3f818000, 0x3f82}, {0xbf818000, 0xbf82},
      {0x7f7fffff, 0x7f80}, {0xff800000, 0xff80}, {0x7f800001, 0x7fc0},
      {0xffffffff, 0xffff}, {0x00000001, 0x0000}, {0x80018000, 0x8002}};
  std::vector<float> values(cases.size());
  for (size_t i = 0; i < cases.size(); ++i)
    std::memcpy(&values[i], &cases[i].first, sizeof(float));
  auto type = mlir::RankedTensorType::get({int64_t(cases.size()), 1},
                                          mlir::Float32Type::get(&context));
  ElementsAttr packed = packMatMulWeights(
      mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(values)), false,
      mlir::BFloat16Type::get(&context));
  std::vector<uint16_t> got = bitsOf<uint16_t>(packed, {1, 6, 16, 2});
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(got[i / 2 * 32 + i % 2], cases[i].second)
        << std::hex << cases[i].first;
}

} // namespace
