//===- PackWeightsTest.cpp - weights in panels ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/lower/PackWeights.h"

#include "dialects/nn/Constants.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

using namespace ingot::lower;
using mlir::ElementsAttr;

namespace {

using Shape = std::vector<int64_t>;

int64_t product(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

class PackWeights : public testing::Test {
protected:
  /// 1, 2, 3, …: 0 is what padding holds.
  ElementsAttr count(const Shape &shape) {
    std::vector<float> values(product(shape));
    std::iota(values.begin(), values.end(), 1.0f);
    auto type = mlir::RankedTensorType::get(
        shape, mlir::Float32Type::get(&context));
    return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(values));
  }

  std::vector<float> valuesOf(ElementsAttr attr, const Shape &shape) {
    EXPECT_EQ(Shape(attr.getShapedType().getShape()), shape);
    std::vector<char> storage;
    std::optional<llvm::ArrayRef<char>> bytes =
        ingot::nn::getRawBytes(attr, storage);
    EXPECT_TRUE(bytes && bytes->size() == product(shape) * sizeof(float));
    std::vector<float> values(product(shape));
    if (bytes)
      std::memcpy(values.data(), bytes->data(),
                  std::min(bytes->size(), values.size() * sizeof(float)));
    return values;
  }

  void checkConv(int64_t outputs, int64_t inputs, const Shape &kernel,
                 int64_t groups);
  void checkMatMul(const Shape &batch, int64_t depth, int64_t columns,
                   bool transposed);

  mlir::MLIRContext context;
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
  packed.insert(packed.end(), {inputs, width});
  std::vector<float> got =
      valuesOf(packConvWeights(count(shape), groups), packed);
  size_t at = 0;
  for (int64_t p = 0; p < groups * panels; ++p)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < inputs; ++c)
        for (int64_t lane = 0; lane < width; ++lane) {
          int64_t inGroup = p % panels * width + lane;
          int64_t output = p / panels * perGroup + inGroup;
          float want = inGroup < perGroup
                           ? 1 + (output * inputs + c) * taps + tap
                           : 0;
          ASSERT_EQ(got[at++], want)
              << "panel " << p << " tap " << tap << " channel " << c
              << " lane " << lane;
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
  packed.insert(packed.end(), {panels, depth, width});
  std::vector<float> got =
      valuesOf(packMatMulWeights(count(shape), transposed), packed);
  size_t at = 0;
  for (int64_t b = 0; b < product(batch); ++b)
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t lane = 0; lane < width; ++lane) {
          int64_t j = p * width + lane;
          int64_t from = transposed ? j * depth + k : k * columns + j;
          float want = j < columns ? 1 + b * depth * columns + from : 0;
          ASSERT_EQ(got[at++], want)
              << "batch " << b << " panel " << p << " k " << k << " lane "
              << lane;
        }
}

// A panel is one of the widths that every level's registers divide, and the
// zeros behind the last never make weights much larger.
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
  checkConv(5, 3, {2, 3}, 1);
  checkConv(16, 2, {3}, 1);
  checkConv(33, 2, {1, 1}, 1);
  checkConv(70, 3, {2, 1, 2}, 1);
}

TEST_F(PackWeights, GroupsHavePanelsOfTheirOwn) {
  checkConv(6, 2, {3, 3}, 3);
  checkConv(40, 1, {2}, 2);
  checkConv(99, 4, {1}, 3);
}

TEST_F(PackWeights, Depthwise) {
  std::vector<float> got =
      valuesOf(packDepthwiseWeights(count({5, 1, 2, 3})), {2, 3, 5});
  for (int64_t tap = 0; tap < 6; ++tap)
    for (int64_t c = 0; c < 5; ++c)
      EXPECT_EQ(got[tap * 5 + c], 1 + c * 6 + tap);
}

TEST_F(PackWeights, MatMul) {
  for (bool transposed : {false, true}) {
    checkMatMul({}, 3, 5, transposed);
    checkMatMul({}, 7, 33, transposed);
    checkMatMul({2, 3}, 4, 20, transposed);
    checkMatMul({4}, 1, 64, transposed);
  }
}

} // namespace
