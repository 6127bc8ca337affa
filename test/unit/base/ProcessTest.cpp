//===- ProcessTest.cpp - running other programs ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/Process.h"

#include "test/unit/base/Ended.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

using namespace ingot;

TEST(Process, OutputAndExitCode) {
  ProcessResult done =
      runProcess({"sh", "-c", "echo out; echo one >&2; echo two >&2; exit 3"});
  EXPECT_EQ(done.exitCode, 3);
  EXPECT_EQ(done.startError, 0);
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.lastError(), "two");
  EXPECT_EQ(runProcess({"false"}).lastError(), "exit code 1");
}

TEST(Process, CannotBeStarted) {
  ProcessResult done = runProcess({"/nowhere/at/all"});
  EXPECT_EQ(done.exitCode, 127);
  EXPECT_EQ(done.startError, ENOENT);
  EXPECT_EQ(done.lastError(), "No such file or directory");
  EXPECT_EQ(runProcess({"/"}).startError, EACCES);
}

TEST(Process, KeepsTheFirstBytes) {
  ProcessLimits limits;
  limits.bytes = 6;
  ProcessResult done = runProcess({"sh", "-c", "seq 100000"}, limits);
  EXPECT_EQ(done.exitCode, 0);
  EXPECT_EQ(done.out, "1\n2\n3\n");
}

TEST(Process, KillsItsChildren) {
  ProcessLimits limits;
  limits.seconds = 1;
  // A child may hold the pipes open, or not.
  for (const char *where : {"", " >/dev/null 2>&1"}) {
    const std::string child = "sleep 100" + std::string(where) + " & ";
    ProcessResult done =
        runProcess({"sh", "-c", child + "echo $!; wait"}, limits);
    EXPECT_TRUE(done.isLate);
    EXPECT_EQ(done.signal, SIGKILL);
    EXPECT_TRUE(test::hasEnded(pid_t(atol(done.out.c_str())))) << done.out;
  }
}
