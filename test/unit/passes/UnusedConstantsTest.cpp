//===- UnusedConstantsTest.cpp - unused constants take no memory ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/UnusedConstants.h"

#include "dialects/nn/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ingot;

namespace {

class UnusedConstants : public testing::Test {
protected:
  UnusedConstants() : builder(&context) {
    context.loadDialect<arith::ArithDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  ElementsAttr attrFrom(double first) {
    std::vector<double> values(kCount);
    for (size_t i = 0; i < kCount; ++i)
      values[i] = first + double(i);
    return nn::makeConstantAttr(
        RankedTensorType::get({int64_t(kCount)}, builder.getF32Type()), values);
  }
  Operation *constantFrom(double first) {
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                     attrFrom(first));
  }
  static StringRef nameOf(ElementsAttr attr) {
    return cast<DenseResourceElementsAttr>(attr).getRawHandle().getKey();
  }

  static constexpr size_t kCount = 1000;
  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(UnusedConstants, AreDropped) {
  Operation *kept = constantFrom(1), *replaced = constantFrom(2);
  // Attributes inside of others are uses.
  module->getOperation()->setAttr("list", builder.getArrayAttr({attrFrom(3)}));
  EXPECT_EQ(nn::dropUnusedConstants(*module), 0u);
  EXPECT_EQ(nn::bytesOfConstants(&context), 3 * kCount * sizeof(float));
  replaced->erase();
  EXPECT_EQ(nn::dropUnusedConstants(*module), kCount * sizeof(float));
  EXPECT_EQ(nn::dropUnusedConstants(*module), 0u);
  EXPECT_EQ(nn::bytesOfConstants(&context), 2 * kCount * sizeof(float));
  EXPECT_EQ(nn::getConstantDoubles(kept->getResult(0))->back(), kCount);
  EXPECT_EQ(nn::readDoubles(attrFrom(3))->front(), 3);
}

TEST_F(UnusedConstants, AreMadeAgainWithTheirName) {
  const std::string name = nameOf(attrFrom(5)).str();
  EXPECT_EQ(nn::dropUnusedConstants(*module), kCount * sizeof(float));
  const ElementsAttr again = attrFrom(5);
  EXPECT_EQ(nameOf(again), name);
  EXPECT_EQ(nn::readDoubles(again)->back(), 4 + double(kCount));
}

} // namespace
