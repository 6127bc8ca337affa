//===- ShareTasksTest.cpp - tasks that are equal for two levels -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ShareTasks.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ingot;

namespace {

/// Returns a function that passes @a.task and @b.task to the host and calls @c.
/// @a.task calls @a, which does `work`.
std::string makeModule(const std::string &work,
                       const std::string &global = "constant") {
  return "llvm.func @host(!llvm.ptr)\n"
         "llvm.mlir.global internal " +
         global +
         " @numbers(7 : i64) : i64\n"
         "llvm.func internal @a(%x: !llvm.ptr) {\n" +
         work +
         "  llvm.return\n}\n"
         "llvm.func internal @a.task(%x: !llvm.ptr) {\n"
         "  llvm.call @a(%x) : (!llvm.ptr) -> ()\n  llvm.return\n}\n"
         "llvm.func internal @b.task(%x: !llvm.ptr) {\n"
         "  %n = llvm.mlir.addressof @numbers : !llvm.ptr\n"
         "  %v = llvm.load %n : !llvm.ptr -> i64\n"
         "  llvm.store %v, %x : i64, !llvm.ptr\n  llvm.return\n}\n"
         "llvm.func internal @c(%x: !llvm.ptr) {\n  llvm.return\n}\n"
         "llvm.func @forward(%x: !llvm.ptr) {\n"
         "  %a = llvm.mlir.addressof @a.task : !llvm.ptr\n"
         "  %b = llvm.mlir.addressof @b.task : !llvm.ptr\n"
         "  llvm.call @host(%a) : (!llvm.ptr) -> ()\n"
         "  llvm.call @host(%b) : (!llvm.ptr) -> ()\n"
         "  llvm.call @c(%x) : (!llvm.ptr) -> ()\n"
         "  llvm.return\n}\n";
}

std::string store(const std::string &number) {
  return "  %v = llvm.mlir.constant(" + number +
         ") : i64\n  llvm.store %v, %x : i64, !llvm.ptr\n";
}

class ShareTasks : public ::testing::Test {
protected:
  ShareTasks() { context.loadDialect<LLVM::LLVMDialect>(); }

  static Target level(const char *name) {
    std::string error;
    return parseTargets(name, error)->sure.front();
  }

  unsigned share(const std::string &lowerText, const std::string &higherText) {
    lower = parseSourceString<ModuleOp>(lowerText, &context);
    higher = parseSourceString<ModuleOp>(higherText, &context);
    EXPECT_TRUE(lower && higher);
    const unsigned number = shareTasks(*lower, level("cascadelake"), *higher);
    EXPECT_TRUE(succeeded(verify(*lower)) && succeeded(verify(*higher)));
    return number;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> lower, higher;
};

TEST_F(ShareTasks, LeavesOneBody) {
  EXPECT_EQ(share(makeModule(store("1")), makeModule(store("1"))), 2u);
  for (const char *name : {"a.task_cascadelake", "b.task_cascadelake"}) {
    auto kept = lower->lookupSymbol<LLVM::LLVMFuncOp>(name),
         removed = higher->lookupSymbol<LLVM::LLVMFuncOp>(name);
    ASSERT_TRUE(kept && removed) << name;
    EXPECT_FALSE(kept.isExternal());
    EXPECT_TRUE(removed.isExternal());
    for (LLVM::LLVMFuncOp function : {kept, removed}) {
      EXPECT_EQ(function.getLinkage(), LLVM::Linkage::External);
      EXPECT_EQ(function.getVisibility_(), LLVM::Visibility::Hidden);
    }
  }
  // Functions that only a removed task calls are removed, too; other called
  // functions stay.
  EXPECT_TRUE(lower->lookupSymbol("a"));
  EXPECT_FALSE(higher->lookupSymbol("a"));
  EXPECT_TRUE(higher->lookupSymbol("c"));
}

TEST_F(ShareTasks, KeepsTasksWhoseKernelsDiffer) {
  EXPECT_EQ(share(makeModule(store("1")), makeModule(store("2"))), 1u);
  EXPECT_TRUE(higher->lookupSymbol("a"));
  EXPECT_TRUE(higher->lookupSymbol("a.task"));
}

TEST_F(ShareTasks, KeepsTasksWithVariables) {
  const std::string text = makeModule(store("1"), "");
  EXPECT_EQ(share(text, text), 1u);
  EXPECT_TRUE(higher->lookupSymbol("b.task"));
}

TEST_F(ShareTasks, KeepsWhatFeaturesAreFor) {
  for (const char *work :
       {"  %h = llvm.load %x : !llvm.ptr -> vector<8xf16>\n",
        "  %h = llvm.load %x : !llvm.ptr -> bf16\n",
        "  %v = llvm.load %x : !llvm.ptr -> vector<8xi64>\n"
        "  %n = llvm.intr.ctpop(%v) : (vector<8xi64>) -> vector<8xi64>\n"}) {
    EXPECT_EQ(share(makeModule(work), makeModule(work)), 1u) << work;
    EXPECT_TRUE(higher->lookupSymbol("a.task"));
  }
}

TEST_F(ShareTasks, IsForLevelsWithTheSameInstructions) {
  auto can = [](const char *lower, const char *higher) {
    return canShareTasks(level(lower), level(higher));
  };
  EXPECT_TRUE(can("cascadelake", "sapphirerapids"));
  EXPECT_TRUE(can("cascadelake", "znver4"));
  EXPECT_FALSE(can("x86-64-v4", "cascadelake"));
  EXPECT_FALSE(can("alderlake", "x86-64-v4"));
  EXPECT_FALSE(can("sapphirerapids", "cascadelake"));
}

} // namespace
