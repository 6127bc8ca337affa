//===- FatalErrorsTest.cpp - fatal errors of LLVM -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/support/FatalErrors.h"

#include <assert.h>
#include <gtest/gtest.h>

namespace {

void fail(const char *reason, bool errorsPrinted) {
  ingot::FatalErrorsInOneLine guard(errorsPrinted);
  llvm::report_fatal_error(reason);
}

TEST(FatalErrorsDeathTest, EndInOneLine) {
  EXPECT_EXIT(fail("Cannot select: t1 = bitcast.\nIn function: forward", false),
              testing::ExitedWithCode(1),
              "^ingot compile: error: the compiler itself failed \\(Cannot "
              "select: t1 = bitcast\\); please report it with the model\n$");
}

TEST(FatalErrorsDeathTest, FullDisksAreNotTheCompilersFault) {
  EXPECT_EXIT(fail("IO failure on output stream: No space left on device\n",
                   false),
              testing::ExitedWithCode(1),
              "^ingot compile: error: cannot write a file: No space left on "
              "device\n$");
}

#ifndef NDEBUG
TEST(FatalErrorsDeathTest, AssertionsEndInOneLine) {
  EXPECT_EXIT(__assert_fail("isEven(count)", "/src/passes/Sort.cpp", 7, "sort"),
              testing::ExitedWithCode(1),
              "error: the compiler itself failed \\(Sort.cpp:7: isEven\\("
              "count\\)\\); please report it with the model\n$");
}
#endif

TEST(FatalErrorsDeathTest, AreNotToldTwice) {
  EXPECT_EXIT(fail("unsupported", true), testing::ExitedWithCode(1), "^$");
}

} // namespace
