//===- ErrorWatchTest.cpp - an error that is reported is an error ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/ErrorWatch.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

TEST(ErrorWatch, NoticesErrorsAndHandsThemOn) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  int printed = 0;
  context.getDiagEngine().registerHandler([&](Diagnostic &) { ++printed; });
  ingot::ErrorWatch errors(context);
  Location loc = UnknownLoc::get(&context);
  emitWarning(loc) << "no error";
  emitRemark(loc) << "nor this";
  EXPECT_TRUE(succeeded(errors.check()));
  (void)emitError(loc);
  EXPECT_TRUE(failed(errors.check()));
  EXPECT_EQ(printed, 3);
}

/// An error that a legalizer causes and handles itself is not an error of the
/// model.
TEST(ErrorWatch, IgnoresWhatIsHandledInside) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ingot::ErrorWatch errors(context);
  {
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    (void)emitError(UnknownLoc::get(&context));
  }
  EXPECT_TRUE(succeeded(errors.check()));
}

} // namespace
