//===- ReifyTest.cpp - sizes of results as values -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

class Reify : public testing::Test {
protected:
  Reify() { context.loadDialect<ingot::nn::NNDialect, func::FuncDialect>(); }

  /// Returns the dynamic sizes of the results of the last op of `body` for
  /// arguments %x and %y of the given sizes. Empty if the sizes are not
  /// reified.
  SmallVector<int64_t> sizes(StringRef arguments, StringRef body,
                             ArrayRef<SmallVector<int64_t>> given) {
    std::string text =
        ("func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}").str();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return {-1};
    auto function = *module->getOps<func::FuncOp>().begin();
    Operation *end = function.front().getTerminator();
    Operation *op = end->getPrevNode();
    OpBuilder builder(end);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(builder, op, shapes)))
      return {};
    EXPECT_TRUE(succeeded(verify(*module)));
    this->given.assign(given.begin(), given.end());
    SmallVector<int64_t> result;
    for (auto [shape, value] : llvm::zip_equal(shapes, op->getResults()))
      for (auto [i, size] : llvm::enumerate(shape))
        if (cast<RankedTensorType>(value.getType()).isDynamicDim(i))
          result.push_back(run(size));
    return result;
  }

  /// Returns the value of a size in a run.
  int64_t run(OpFoldResult size) {
    auto number = dyn_cast_or_null<IntegerAttr>(evaluate(size));
    return number ? number.getValue().getSExtValue() : -2;
  }

  /// Returns the constant that a value has in a run, or null.
  Attribute evaluate(OpFoldResult size) {
    if (auto known = dyn_cast<Attribute>(size))
      return known;
    auto value = cast<Value>(size);
    Builder b(&context);
    if (auto argument = dyn_cast<BlockArgument>(value))
      return b.getIndexAttr(given[argument.getArgNumber()].front());
    Operation *op = value.getDefiningOp();
    if (auto dim = dyn_cast<tensor::DimOp>(op))
      return b.getIndexAttr(
          given[cast<BlockArgument>(dim.getSource()).getArgNumber()]
               [*dim.getConstantIndex()]);
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand));
    SmallVector<OpFoldResult> folded;
    if (failed(op->fold(operands, folded)) || folded.empty())
      return {};
    return evaluate(folded[0]);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<SmallVector<int64_t>> given;
};

using Numbers = SmallVector<int64_t>;

TEST_F(Reify, Convolution) {
  EXPECT_EQ(
      sizes("%x: tensor<?x?x?x8xf32>, %y: tensor<4x8x3x3xf32>",
            "%z = nn.conv %x, %y {strides = array<i64: 2, 1>, "
            "pads = array<i64: 1, 0, 1, 2>, dilations = array<i64: 1, 2>, "
            "groups = 1 : i64, channels_last} : (tensor<?x?x?x8xf32>, "
            "tensor<4x8x3x3xf32>) -> tensor<?x?x?x4xf32>",
            {{5, 10, 20, 8}, {}}),
      (Numbers{5, 5, 18}));
}

TEST_F(Reify, BroadcastIsDecidedInTheRun) {
  for (auto [x, y, z] : {std::tuple(3, 3, 3), {1, 4, 4}, {4, 1, 4}, {1, 0, 0}})
    EXPECT_EQ(sizes("%x: tensor<?xf32>, %y: tensor<?xf32>",
                    "%z = nn.add %x, %y : tensor<?xf32>, tensor<?xf32> -> "
                    "tensor<?xf32>",
                    {{x}, {y}}),
              (Numbers{z}));
}

TEST_F(Reify, Sums) {
  EXPECT_EQ(sizes("%x: tensor<?x4xf32>, %y: tensor<?x4xf32>",
                  "%z = nn.concat %x, %y {axis = 0 : i64} : "
                  "(tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>",
                  {{3, 4}, {9, 4}}),
            (Numbers{12}));
}

TEST_F(Reify, OpenSizesThatAreStated) {
  EXPECT_EQ(sizes("%x: tensor<1xf32>, %y: index",
                  "%z = nn.broadcast_to %x sizes(%y) : tensor<1xf32> -> "
                  "tensor<?xf32>",
                  {{}, {7}}),
            (Numbers{7}));
}

TEST_F(Reify, ScalesThatAreNotWhole) {
  auto resized = [&](StringRef scale, int64_t size) {
    return sizes("%x: tensor<?x?xf32>",
                 ("%z = \"nn.resize\"(%x) <{mode = 0 : i32, scales = "
                  "array<f32: 1.0, " +
                  scale +
                  ">, coordinates = 0 : i32, nearest_mode = "
                  "0 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : "
                  "(tensor<?x?xf32>) -> tensor<?x?xf32>")
                     .str(),
                 {{3, size}});
  };
  EXPECT_EQ(resized("1.5", 5), (Numbers{3, 7}));
  EXPECT_EQ(resized("0.3", 9), (Numbers{3, 2}));
  // A tenth is slightly more than 0.1 in f32, and the product is rounded.
  EXPECT_EQ(resized("0.1", 30), (Numbers{3, 3}));
  EXPECT_EQ(resized("0.5", 0), (Numbers{3, 0}));
}

} // namespace
