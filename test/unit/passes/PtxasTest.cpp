//===- PtxasTest.cpp - an assembler that misbehaves -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/emit/Ptxas.h"

#include "test/unit/base/Ended.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ingot;

namespace {

/// A program that takes the place of ptxas, and the messages about it.
struct Script {
  explicit Script(const std::string &text) {
    int file = -1;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("ptxas", "sh", file, path));
    llvm::raw_fd_ostream(file, /*shouldClose=*/true) << "#!/bin/sh\n" << text;
    EXPECT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all));
    remover.setFile(path);
    handler.emplace(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str() + "\n";
    });
  }

  /// Returns the program with a limit of one second.
  cuda::Ptxas program() const { return {path.str().str(), /*maxSeconds=*/1}; }
  std::string prefix() const { return "ptxas '" + path.str().str() + "' "; }

  MLIRContext context;
  Location loc = UnknownLoc::get(&context);
  llvm::SmallString<128> path;
  llvm::FileRemover remover;
  std::string message;
  std::optional<ScopedDiagnosticHandler> handler;
};

} // namespace

TEST(Ptxas, HangsWhenAskedForItsVersion) {
  Script script("exec sleep 100\n");
  EXPECT_TRUE(failed(script.program().version(script.loc)));
  EXPECT_EQ(script.message, script.prefix() + "did not end in 1 s\n");
}

TEST(Ptxas, HangsWhenItAssembles) {
  Script script("case $1 in --version) echo tools, V1.2.3;; "
                "*) exec sleep 100;; esac\n");
  FailureOr<std::string> version = script.program().version(script.loc);
  ASSERT_TRUE(succeeded(version));
  EXPECT_EQ(*version, "1.2.3");
  EXPECT_TRUE(failed(script.program().assemble(script.loc, "", 80)));
  EXPECT_EQ(script.message, script.prefix() + "did not end in 1 s\n");
}

TEST(Ptxas, CrashesWhenItAssembles) {
  Script script("kill -SEGV $$\n");
  EXPECT_TRUE(failed(script.program().assemble(script.loc, "", 80)));
  EXPECT_EQ(script.message,
            script.prefix() + "was ended by signal 11 (Segmentation fault)\n");
}

TEST(Ptxas, CannotBeRun) {
  Script script("");
  const cuda::Ptxas missing{script.path.str().str() + ".no", 1};
  EXPECT_TRUE(failed(missing.version(script.loc)));
  EXPECT_EQ(script.message, "ptxas '" + missing.path +
                                "' cannot be run: No such file or directory\n");
  script.message.clear();
  EXPECT_FALSE(
      llvm::sys::fs::setPermissions(script.path, llvm::sys::fs::owner_read));
  EXPECT_TRUE(failed(script.program().version(script.loc)));
  EXPECT_EQ(script.message,
            script.prefix() + "cannot be run: Permission denied\n");
}

TEST(Ptxas, IsNotSearchedInPath) {
  Script script("");
  const cuda::Ptxas shell{"sh", 1};
  EXPECT_TRUE(failed(shell.version(script.loc)));
  EXPECT_EQ(script.message,
            "ptxas 'sh' cannot be run: No such file or directory\n");
}

/// A program that ptxas has started does not outlive it, and keeps no pipe
/// open.
TEST(Ptxas, ChildrenEnd) {
  Script script("sleep 1234567 & echo $! >$0.pid; sleep 100\n");
  EXPECT_TRUE(failed(script.program().version(script.loc)));
  EXPECT_EQ(script.message, script.prefix() + "did not end in 1 s\n");
  const std::string file = script.path.str().str() + ".pid";
  llvm::FileRemover remover(file);
  auto text = llvm::MemoryBuffer::getFile(file);
  ASSERT_TRUE(bool(text));
  int child = 0;
  ASSERT_FALSE((*text)->getBuffer().trim().getAsInteger(10, child));
  EXPECT_TRUE(test::hasEnded(pid_t(child)));
}

TEST(Ptxas, NamesNoVersion) {
  Script script("exit 3\n");
  FailureOr<std::string> version = script.program().version(script.loc);
  ASSERT_TRUE(succeeded(version));
  EXPECT_EQ(*version, "");
  EXPECT_EQ(script.message, "");
}
