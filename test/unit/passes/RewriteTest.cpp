//===- RewriteTest.cpp - greedy rewriting terminates ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Rewrite.h"

#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ingot;

namespace {

/// Replaces an op by another one of the same type.
template <typename From, typename To>
struct Replace : OpRewritePattern<From> {
  Replace(MLIRContext *context, int64_t &count)
      : OpRewritePattern<From>(context), count(count) {}
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    ++count;
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), op.getX());
    return success();
  }
  int64_t &count;
};

/// Adds another op in front of each op, and so never terminates.
struct Grow : OpRewritePattern<nn::NegOp> {
  Grow(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}
  LogicalResult matchAndRewrite(nn::NegOp op,
                                PatternRewriter &rewriter) const override {
    ++count;
    Value more =
        nn::NegOp::create(rewriter, op.getLoc(), op.getType(), op.getX());
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(more); });
    return success();
  }
  int64_t &count;
};

class Rewrite : public testing::Test {
protected:
  Rewrite() { context.loadDialect<nn::NNDialect, func::FuncDialect>(); }

  void parse(int64_t length) {
    std::string text = "func.func @f(%x0: tensor<4xf32>) -> tensor<4xf32> {\n";
    for (int64_t i = 0; i < length; ++i)
      text += "%x" + std::to_string(i + 1) + " = nn.neg %x" +
              std::to_string(i) + " : tensor<4xf32> -> tensor<4xf32>\n";
    text += "return %x" + std::to_string(length) + " : tensor<4xf32>\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }

  /// Returns the reported message; empty if rewriting terminated.
  std::string rewrite(RewritePatternSet patterns) {
    std::string text;
    int reports = 0;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text = diagnostic.str();
      ++reports;
      return success();
    });
    LogicalResult result =
        rewriteGreedily(*module, std::move(patterns), "some-pass");
    EXPECT_EQ(failed(result), reports == 1);
    EXPECT_LE(reports, 1);
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  int64_t count = 0;
};

TEST_F(Rewrite, ComesToItsEnd) {
  parse(1000);
  RewritePatternSet patterns(&context);
  patterns.add<Replace<nn::NegOp, nn::AbsOp>>(&context, count);
  EXPECT_EQ(rewrite(std::move(patterns)), "");
  EXPECT_EQ(count, 1000);
}

TEST_F(Rewrite, TwoPatternsUndoEachOther) {
  parse(10);
  RewritePatternSet patterns(&context);
  patterns.add<Replace<nn::NegOp, nn::AbsOp>, Replace<nn::AbsOp, nn::NegOp>>(
      &context, count);
  std::string text = rewrite(std::move(patterns));
  EXPECT_NE(text.find("pass 'some-pass' does not come to an end"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Please report"), std::string::npos) << text;
  EXPECT_LE(count, rewriteBudget(13));
}

TEST_F(Rewrite, GrowsForEver) {
  parse(1);
  RewritePatternSet patterns(&context);
  patterns.add<Grow>(&context, count);
  EXPECT_NE(rewrite(std::move(patterns)), "");
  EXPECT_LE(count, rewriteBudget(4));
}

TEST_F(Rewrite, BudgetIsInProportion) {
  int64_t none = rewriteBudget(0);
  EXPECT_GT(none, 0);
  EXPECT_EQ(rewriteBudget(2000) - none, 2 * (rewriteBudget(1000) - none));
}

} // namespace
