//===- ObjectCacheTest.cpp - cache of object code -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ObjectCache.h"
#include "compiler/target/Target.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

using namespace ingot;

namespace {

std::string keyOf(const char *number, const char *level, bool forSize = false) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      "define i64 @f() {\n  ret i64 " + std::string(number) + "\n}\n", error,
      context);
  EXPECT_TRUE(module) << error.getMessage().str();
  std::string wrong;
  auto targets = parseTargets(level, wrong);
  EXPECT_TRUE(targets) << wrong;
  return ObjectCache::keyOf(
      *module, *targets->sure.front().createTargetMachine(), forSize);
}

TEST(ObjectCache, KeyHasAllThatDecidesTheCode) {
  const std::string key = keyOf("1", "x86-64-v3");
  EXPECT_EQ(keyOf("1", "x86-64-v3"), key);
  EXPECT_NE(keyOf("2", "x86-64-v3"), key);
  EXPECT_NE(keyOf("1", "x86-64-v4"), key);
  // LLVM uses one CPU for both, and one feature differs.
  EXPECT_NE(keyOf("1", "alderlake"), key);
  EXPECT_NE(keyOf("1", "x86-64-v3", /*forSize=*/true), key);
}

TEST(ObjectCache, FindsWhatWasAdded) {
  ObjectCache cache;
  llvm::SmallVector<char, 0> code;
  EXPECT_FALSE(cache.find("a", code));
  cache.add("a", {'x', '\0', 'y'});
  EXPECT_FALSE(cache.find("b", code));
  ASSERT_TRUE(cache.find("a", code));
  EXPECT_EQ(llvm::StringRef(code.data(), code.size()),
            llvm::StringRef("x\0y", 3));
  EXPECT_EQ(cache.hits(), 1u);
}

} // namespace
