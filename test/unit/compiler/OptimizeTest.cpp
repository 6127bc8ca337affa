//===- OptimizeTest.cpp - optimized loops in LLVM IR ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"
#include "compiler/target/Target.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <string>

namespace {

/// Returns a loop of eight steps that load `length` vectors, compute their
/// square roots and store them.
std::string makeLoop(int length) {
  std::string body;
  for (int i = 0; i < length; ++i) {
    std::string n = std::to_string(i);
    body += "  %place" + n + " = add i64 %i, " + std::to_string(8 * i) + "\n" +
            "  %at" + n + " = getelementptr <8 x float>, ptr %x, i64 %place" +
            n + "\n  %v" + n + " = load <8 x float>, ptr %at" + n + "\n" +
            "  %root" + n + " = call <8 x float> @llvm.sqrt.v8f32(" +
            "<8 x float> %v" + n + ")\n" + "  store <8 x float> %root" + n +
            ", ptr %at" + n + "\n";
  }
  return "declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)\n"
         "define void @f(ptr noalias %x) {\n"
         "entry:\n"
         "  br label %loop\n"
         "loop:\n"
         "  %i = phi i64 [0, %entry], [%next, %loop]\n" +
         body +
         "  %next = add i64 %i, 1\n"
         "  %again = icmp ult i64 %next, 8\n"
         "  br i1 %again, label %loop, label %end\n"
         "end:\n"
         "  ret void\n"
         "}\n";
}

/// Returns an outer loop of `rounds` iterations around a loop of `steps` steps,
/// which compute the square roots of six vectors.
std::string makeNest(const std::string &rounds, const std::string &steps) {
  std::string body;
  for (int i = 0; i < 6; ++i) {
    std::string n = std::to_string(i);
    body += "  %at" + n + " = getelementptr <8 x float>, ptr %row, i64 " + n +
            "\n  %v" + n + " = load <8 x float>, ptr %at" + n + "\n" +
            "  %root" + n + " = call <8 x float> @llvm.sqrt.v8f32(" +
            "<8 x float> %v" + n + ")\n" + "  store <8 x float> %root" + n +
            ", ptr %at" + n + "\n";
  }
  return "declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)\n"
         "define void @f(ptr noalias %x, i64 %n) {\n"
         "entry:\n"
         "  br label %outer\n"
         "outer:\n"
         "  %o = phi i64 [0, %entry], [%nextOuter, %endInner]\n"
         "  %more = icmp slt i64 %o, " +
         rounds +
         "\n"
         "  br i1 %more, label %inner, label %end\n"
         "inner:\n"
         "  %i = phi i64 [0, %outer], [%next, %body]\n"
         "  %again = icmp slt i64 %i, " +
         steps +
         "\n"
         "  br i1 %again, label %body, label %endInner\n"
         "body:\n"
         "  %line = mul i64 %i, %n\n"
         "  %place = add i64 %line, %o\n"
         "  %row = getelementptr [48 x float], ptr %x, i64 %place\n" +
         body +
         "  %next = add nsw i64 %i, 1\n"
         "  br label %inner\n"
         "endInner:\n"
         "  %nextOuter = add nsw i64 %o, 1\n"
         "  br label %outer\n"
         "end:\n"
         "  ret void\n"
         "}\n";
}

/// Returns a function with `parameters` that has one loop of %count iterations
/// %i.
std::string makeLoop(const std::string &parameters, const std::string &head,
                     const std::string &body, const std::string &tail) {
  return "define void @f(" + parameters + ", i64 %count) {\n"
         "entry:\n"
         "  br label %loop\n"
         "loop:\n"
         "  %i = phi i64 [0, %entry], [%nextRound, %loop]\n" +
         head + body +
         "  %nextRound = add i64 %i, 1\n"
         "  %again = icmp ult i64 %nextRound, %count\n"
         "  br i1 %again, label %loop, label %end\n"
         "end:\n" +
         tail +
         "  ret void\n"
         "}\n";
}

/// Returns `walks` walks side by side. Each step of walk N runs `step`, which
/// reads %table at %hereN and defines %nextN.
std::string makeWalks(int walks, const std::string &step) {
  std::string head, body, tail;
  for (int i = 0; i < walks; ++i) {
    std::string n = std::to_string(i), line = step;
    for (size_t at; (at = line.find('N')) != std::string::npos;)
      line.replace(at, 1, n);
    head += "  %here" + n + " = phi i64 [" + n + ", %entry], [%next" + n +
            ", %loop]\n";
    body += line;
    tail += "  %to" + n + " = getelementptr i64, ptr %y, i64 " + n +
            "\n  store i64 %next" + n + ", ptr %to" + n + "\n";
  }
  return makeLoop("ptr noalias %table, ptr noalias %y", head, body, tail);
}

std::unique_ptr<llvm::Module> optimized(const std::string &text,
                                        llvm::LLVMContext &context,
                                        llvm::StringRef level = "x86-64-v3",
                                        bool forSize = false) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  std::string error;
  auto targets = ingot::parseTargets(level, error);
  EXPECT_TRUE(targets) << error;
  auto machine = targets->sure.front().createTargetMachine();
  ingot::optimize(*module, *machine, forSize);
  return module;
}

/// Returns the number of square roots in the optimized code.
int countRoots(const std::string &text, bool forSize = false) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      optimized(text, context, "x86-64-v3", forSize);
  int count = 0;
  for (const llvm::Instruction &i :
       llvm::instructions(module->getFunction("f")))
    count += llvm::isa<llvm::CallBase>(i);
  return count;
}

TEST(Optimize, UnrollsShortLoops) { EXPECT_EQ(countRoots(makeLoop(2)), 16); }

TEST(Optimize, UnrollsNothingForSize) {
  EXPECT_EQ(countRoots(makeLoop(2), /*forSize=*/true), 2);
}

TEST(Optimize, LeavesLongLoops) { EXPECT_EQ(countRoots(makeLoop(24)), 24); }

/// Three iterations around a loop of dynamic length stay a loop; two become two
/// copies.
TEST(Optimize, LeavesLoopsAroundOpenOnes) {
  int once = countRoots(makeNest("3", "%n"));
  EXPECT_EQ(countRoots(makeNest("2", "%n")), 2 * once);
}

/// Returns true if the optimized code has vectors.
bool hasVectors(const std::string &text) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = optimized(text, context, "x86-64-v4");
  return llvm::any_of(
      llvm::instructions(module->getFunction("f")),
      [](const llvm::Instruction &i) { return i.getType()->isVectorTy(); });
}

/// Steps that wait for the previous step's load are not vectorized. Steps that
/// load at the loop counter, or only wait for sums, are.
TEST(Optimize, GathersNoLinks) {
  std::string link = "  %atN = getelementptr i64, ptr %table, i64 %hereN\n"
                     "  %nextN = load i64, ptr %atN\n";
  std::string sum = "  %kN = add i64 %i, N\n"
                    "  %atN = getelementptr i64, ptr %table, i64 %kN\n"
                    "  %loadedN = load i64, ptr %atN\n"
                    "  %nextN = add i64 %hereN, %loadedN\n";
  EXPECT_FALSE(hasVectors(makeWalks(8, link)));
  EXPECT_TRUE(hasVectors(makeWalks(8, sum)));
}

/// Returns a store of <4 x i8> under a constant mask.
std::string makeMaskedStore(const std::string &mask) {
  return "define void @f(ptr %p, <4 x i32> %v) {\n"
         "  %t = trunc <4 x i32> %v to <4 x i8>\n"
         "  call void @llvm.masked.store.v4i8.p0(<4 x i8> %t, ptr align 4 %p, "
         "<4 x i1> <" +
         mask +
         ">)\n"
         "  ret void\n"
         "}\n"
         "declare void @llvm.masked.store.v4i8.p0(<4 x i8>, ptr, <4 x i1>)\n";
}

/// LLVM would store four bytes for one element.
TEST(Optimize, StoresSingleElementsWithoutMask) {
  llvm::LLVMContext context;
  auto module =
      optimized(makeMaskedStore("i1 false, i1 false, i1 true, i1 false"),
                context, "x86-64-v4");
  int numStores = 0;
  for (llvm::Instruction &i : llvm::instructions(module->getFunction("f"))) {
    EXPECT_FALSE(llvm::isa<llvm::IntrinsicInst>(i));
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
    if (!store)
      continue;
    ++numStores;
    EXPECT_TRUE(store->getValueOperand()->getType()->isIntegerTy(8));
    EXPECT_EQ(store->getAlign().value(), 2u);
  }
  EXPECT_EQ(numStores, 1);
}

TEST(Optimize, KeepsMaskedStoresOfSeveralElements) {
  llvm::LLVMContext context;
  auto module =
      optimized(makeMaskedStore("i1 true, i1 false, i1 true, i1 false"),
                context, "x86-64-v4");
  EXPECT_TRUE(llvm::any_of(llvm::instructions(module->getFunction("f")),
                           llvm::IsaPred<llvm::IntrinsicInst>));
}

/// Values that are known before a loop are not computed again in the loop.
TEST(Optimize, KeepsQuotientsOutsideLoops) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      optimized("define void @f(ptr %x, i64 %m, i64 %n) {\n"
                "entry:\n"
                "  %row = udiv i64 %m, %n\n"
                "  br label %loop\n"
                "loop:\n"
                "  %i = phi i64 [0, %entry], [%next, %loop]\n"
                "  %place = add i64 %row, %i\n"
                "  %at = getelementptr <8 x float>, ptr %x, i64 %place\n"
                "  store <8 x float> zeroinitializer, ptr %at\n"
                "  %next = add i64 %i, 3\n"
                "  %again = icmp ult i64 %next, %n\n"
                "  br i1 %again, label %loop, label %end\n"
                "end:\n"
                "  ret void\n"
                "}\n",
                context);
  int count = 0;
  for (const llvm::Instruction &i :
       llvm::instructions(module->getFunction("f")))
    if (i.getOpcode() == llvm::Instruction::UDiv) {
      ++count;
      for (const llvm::User *user : i.users())
        EXPECT_TRUE(llvm::isa<llvm::FreezeInst>(user));
    }
  EXPECT_EQ(count, 1);
}

/// Returns code that loads `rows` rows, `%apart` bytes apart, and adds each to
/// a sum of vectors.
std::string makeRows(int rows) {
  std::string head, body, tail;
  for (int i = 0; i < rows; ++i) {
    std::string n = std::to_string(i);
    head += "  %sum" + n + " = phi <16 x float> [zeroinitializer, %entry], " +
            "[%more" + n + ", %loop]\n";
    body += "  %from" + n + " = mul i64 %apart, " + n + "\n  %row" + n +
            " = getelementptr i8, ptr %x, i64 %from" + n + "\n  %at" + n +
            " = getelementptr float, ptr %row" + n + ", i64 %i\n  %v" + n +
            " = load float, ptr %at" + n + "\n  %one" + n +
            " = insertelement <16 x float> poison, float %v" + n +
            ", i64 0\n  %all" + n + " = shufflevector <16 x float> %one" + n +
            ", <16 x float> poison, <16 x i32> zeroinitializer\n  %more" + n +
            " = fadd <16 x float> %sum" + n + ", %all" + n + "\n";
    tail += "  %to" + n + " = getelementptr <16 x float>, ptr %y, i64 " + n +
            "\n  store <16 x float> %more" + n + ", ptr %to" + n + "\n";
  }
  return makeLoop("ptr noalias %x, ptr noalias %y, i64 %apart", head, body,
                  tail);
}

/// Returns the number of values that determine the addresses of scalars in the
/// loop: the first address, and values that are equal in all iterations.
size_t countBases(int rows) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      optimized(makeRows(rows), context, "x86-64-v4");
  llvm::SmallPtrSet<const llvm::Value *, 16> bases;
  int loads = 0;
  for (const llvm::Instruction &i :
       llvm::instructions(module->getFunction("f"))) {
    auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
    if (!load)
      continue;
    ++loads;
    llvm::SmallVector<const llvm::Value *> open{load->getPointerOperand()};
    while (!open.empty()) {
      const llvm::Value *value = open.pop_back_val();
      auto *at = llvm::dyn_cast<llvm::GetElementPtrInst>(value);
      if (!at || at->getParent() != load->getParent())
        bases.insert(value);
      else
        llvm::append_range(open, at->operand_values());
    }
  }
  EXPECT_EQ(loads, rows);
  return bases.size();
}

/// The addresses of 14 rows depend on one address, and on one, three and five
/// times the distance.
TEST(Optimize, ComputesRowsFromOneAnother) { EXPECT_EQ(countBases(14), 4u); }

} // namespace
