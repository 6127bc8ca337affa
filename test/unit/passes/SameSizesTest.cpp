//===- SameSizesTest.cpp - equal dynamic sizes ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/SameSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

/// A function of %x, `body` and a last op, whose operand is queried.
class SameSizes : public testing::Test {
protected:
  SameSizes() {
    context.loadDialect<ingot::nn::NNDialect, func::FuncDialect>();
  }

  bool sameAsInput(const std::string &body, const std::string &last,
                   int64_t dim) {
    std::string text = "func.func @f(%x0: tensor<?x4xf32>, %y: tensor<?x4xf32>)"
                       " -> tensor<?x4xf32> {\n" +
                       body + "return " + last + " : tensor<?x4xf32>\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return false;
    auto function = *module->getOps<func::FuncOp>().begin();
    Value result = function.front().getTerminator()->getOperand(0);
    return ingot::shape::SameSizes(function).isSame(
        result, dim, function.getArgument(0), 0);
  }

  static std::string add(const std::string &result, const std::string &a,
                         const std::string &b) {
    return result + " = nn.add " + a + ", " + b +
           " : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>\n";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

// A chain with 2^100 paths must not take as many steps.
TEST_F(SameSizes, ResidualChain) {
  std::string body;
  for (int i = 0; i < 100; ++i)
    body += add("%x" + std::to_string(i + 1), "%x" + std::to_string(i),
                "%x" + std::to_string(i));
  EXPECT_TRUE(sameAsInput(body, "%x100", 0));
}

TEST_F(SameSizes, OperandsMustAgree) {
  EXPECT_FALSE(sameAsInput(add("%s", "%x0", "%y"), "%s", 0));
  EXPECT_TRUE(sameAsInput(add("%s", "%x0", "%x0"), "%s", 0));
}

// A long chain must not overflow the stack.
TEST_F(SameSizes, VeryDeep) {
  std::string body;
  for (int i = 0; i < 20000; ++i)
    body += add("%x" + std::to_string(i + 1), "%x" + std::to_string(i),
                "%x" + std::to_string(i));
  EXPECT_TRUE(sameAsInput(body, "%x20000", 0));
}

} // namespace
