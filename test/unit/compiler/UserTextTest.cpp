//===- UserTextTest.cpp - messages in the user's words --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/UserText.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/ErrorWatch.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using ingot::toUserText;

namespace {

constexpr char kReport[] =
    "; this is a bug in ingot, please report it with the model";

TEST(UserText, WritesTypesAsONNXDoes) {
  EXPECT_EQ(toUserText("a tensor of type tensor<8x?xf32> is too large"),
            "a tensor of type float32[8,?] is too large");
  EXPECT_EQ(toUserText("tensor<f64>, tensor<*xi64> and tensor<2x3xui8>"),
            "float64[], int64 of unknown rank and uint8[2,3]");
  EXPECT_EQ(toUserText("memref<4xi1, strided<[1], offset: ?>>"), "bool[4]");
  EXPECT_EQ(toUserText("tensor<2xcomplex<f32>>"), "complex64[2]");
  EXPECT_EQ(toUserText("tensor<1xf8E4M3FN>"), "float8e4m3fn[1]");
  EXPECT_EQ(toUserText("of type 'tensor<3xi32>'"), "of type 'int32[3]'");
  EXPECT_EQ(toUserText("elements of type f32, but is given ui8"),
            "elements of type float32, but is given uint8");
  EXPECT_EQ(toUserText("has a factor of open size: ?x4xf32"),
            "has a factor of open size: float32[?,4]");
}

TEST(UserText, KeepsWhatIsNoType) {
  for (const char *text :
       {"", "'", "input 'i1' is f", "names f32 and i8", "tensor<",
        "tensor<2x", "tensor<axf32>", "node 'f' is 2x3", "mytensor<2xf32>",
        "a 'name' and another'", "'x' op 'y.z'",
        "the 'func' and 'cpu.' of 'cpux.a'",
        "input 'index.1' of node 'nn.conv' is defined nowhere",
        "is out of index 3", "operation 'x.y' failed"})
    EXPECT_EQ(toUserText(text), text);
}

TEST(UserText, ReportsComplaintsAboutOperations) {
  EXPECT_EQ(toUserText("'cpu.packed_matmul' op expects inner dimension of "
                       "known size"),
            std::string("internal error: an operation expects inner dimension "
                        "of known size") +
                kReport);
  EXPECT_EQ(toUserText("failed to legalize operation 'nn.conv' that was "
                       "explicitly marked illegal"),
            std::string("internal error") + kReport);
  EXPECT_EQ(toUserText("'scf.while' op along edge from Operation scf.yield"),
            std::string("internal error") + kReport);
}

TEST(UserText, KnowsTheDialectsOfTheCompiler) {
  std::unique_ptr<MLIRContext> context = ingot::createContext();
  for (Dialect *dialect : context->getLoadedDialects())
    EXPECT_EQ(
        toUserText(("'" + dialect->getNamespace() + ".x' op is odd").str()),
        std::string("internal error: an operation is odd") + kReport)
        << dialect->getNamespace().str();
}

/// Messages keep their location and severity, and are reported once.
TEST(UserText, IsWhatHandlersGet) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::vector<std::string> texts;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    EXPECT_EQ(diagnostic.getSeverity(), DiagnosticSeverity::Error);
    texts.push_back(diagnostic.str());
  });
  ingot::ErrorWatch errors(context);
  {
    // Simulates a legalizer that only reports its first error.
    int reported = 0;
    ScopedDiagnosticHandler first(&context, [&](Diagnostic &) {
      return success(reported++ != 0);
    });
    (void)emitError(UnknownLoc::get(&context), "of type tensor<2xf32>");
  }
  (void)emitError(UnknownLoc::get(&context), "plain");
  EXPECT_TRUE(failed(errors.check()));
  EXPECT_EQ(texts, (std::vector<std::string>{"of type float32[2]", "plain"}));
}

} // namespace
