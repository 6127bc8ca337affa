//===- MergeKernelsTest.cpp - one function for similar kernels ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/MergeKernels.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

/// A kernel that adds one to `lines` lines of `length` numbers, and does
/// `extra` in each round; `sums` sums that nobody wants make it long.
std::string makeKernel(const std::string &name, int lines, int length,
                       const std::string &extra = "", int sums = 100,
                       const std::string &linkage = "internal") {
  std::string body;
  for (int i = 0; i < sums; ++i)
    body += "  %s" + std::to_string(i) + " = add i64 %task, %j\n";
  std::string n = std::to_string(length);
  return "define " + linkage + " void @" + name + "(ptr %x, i64 %task) {\n"
         "entry:\n"
         "  br label %rows\n"
         "rows:\n"
         "  %i = phi i64 [0, %entry], [%nextRow, %endRow]\n"
         "  %line = mul nsw i64 %i, " + n + "\n"
         "  br label %row\n"
         "row:\n"
         "  %j = phi i64 [0, %rows], [%next, %row]\n" + body + extra +
         "  %place = add nsw i64 %line, %j\n"
         "  %at = getelementptr float, ptr %x, i64 %place\n"
         "  %v = load float, ptr %at\n"
         "  %w = fadd float %v, 1.0\n"
         "  store float %w, ptr %at\n"
         "  %next = add nsw i64 %j, 1\n"
         "  %again = icmp slt i64 %next, " + n + "\n"
         "  br i1 %again, label %row, label %endRow\n"
         "endRow:\n"
         "  %nextRow = add nsw i64 %i, 1\n"
         "  %more = icmp slt i64 %nextRow, " + std::to_string(lines) + "\n"
         "  br i1 %more, label %rows, label %end\n"
         "end:\n"
         "  ret void\n"
         "}\n";
}

struct Merged {
  explicit Merged(const std::string &text) {
    llvm::SMDiagnostic problem;
    module = llvm::parseAssemblyString(text, problem, context);
    EXPECT_TRUE(module) << problem.getMessage().str();
    llvm::PassBuilder builder;
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graph;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graph, modules);
    ingot::MergeKernelsPass().run(*module, modules);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  }

  /// The function that `name` leaves its work to, or null.
  llvm::Function *commonOf(const std::string &name) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(
        &module->getFunction(name)->getEntryBlock().front());
    return call ? call->getCalledFunction() : nullptr;
  }

  /// What `name` tells it.
  std::vector<int64_t> numbersOf(const std::string &name) {
    auto *call = llvm::cast<llvm::CallInst>(
        &module->getFunction(name)->getEntryBlock().front());
    auto *table = llvm::cast<llvm::GlobalVariable>(
        call->getArgOperand(call->arg_size() - 1));
    auto *data = llvm::cast<llvm::ConstantDataArray>(table->getInitializer());
    std::vector<int64_t> numbers;
    for (unsigned i = 0; i < data->getNumElements(); ++i)
      numbers.push_back(int64_t(data->getElementAsInteger(i)));
    return numbers;
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

TEST(MergeKernels, TellsWhatDiffers) {
  Merged merged(makeKernel("a", 7, 300) + makeKernel("b", 9, 500) +
                makeKernel("c", 7, 500));
  llvm::Function *common = merged.commonOf("a");
  ASSERT_TRUE(common);
  EXPECT_EQ(merged.commonOf("b"), common);
  EXPECT_EQ(merged.commonOf("c"), common);
  EXPECT_EQ(merged.numbersOf("a"), (std::vector<int64_t>{7, 300}));
  EXPECT_EQ(merged.numbersOf("b"), (std::vector<int64_t>{9, 500}));
  EXPECT_EQ(merged.numbersOf("c"), (std::vector<int64_t>{7, 500}));
}

/// An instruction has room for a small number beside one that is told.
TEST(MergeKernels, AddsSmallNumbers) {
  auto make = [](const std::string &name, int length) {
    return makeKernel(name, 7, length,
                      "  %t = mul i64 %j, " + std::to_string(length + 8) +
                          "\n");
  };
  Merged merged(make("a", 300) + make("b", 500));
  EXPECT_EQ(merged.numbersOf("a"), (std::vector<int64_t>{300}));
  EXPECT_EQ(merged.numbersOf("b"), (std::vector<int64_t>{500}));
}

/// Beside vectors of 512 bits there is time to compute multiples of what is
/// told, of a few; other functions are not told so many numbers, and stay.
TEST(MergeKernels, MultipliesBesideWideVectors) {
  auto make = [](const std::string &name, int length, const char *vector,
                 int multiples = 8) {
    std::string extra = std::string("  %v0 = fadd ") + vector +
                        " zeroinitializer, zeroinitializer\n";
    for (int i = 2; i < 2 + multiples; ++i)
      extra += "  %t" + std::to_string(i) + " = mul i64 %j, " +
               std::to_string(i * length) + "\n";
    return makeKernel(name, 7, length, extra);
  };
  Merged wide(make("a", 300, "<16 x float>") + make("b", 500, "<16 x float>"));
  ASSERT_TRUE(wide.commonOf("a"));
  EXPECT_EQ(wide.commonOf("b"), wide.commonOf("a"));
  EXPECT_EQ(wide.numbersOf("a"), (std::vector<int64_t>{3}));
  EXPECT_EQ(wide.numbersOf("b"), (std::vector<int64_t>{5}));
  Merged narrow(make("a", 300, "<8 x float>") + make("b", 500, "<8 x float>"));
  EXPECT_FALSE(narrow.commonOf("a"));
  // As many addresses would take the registers of what is computed.
  Merged many(make("a", 300, "<16 x float>", 13) +
              make("b", 500, "<16 x float>", 13));
  EXPECT_FALSE(many.commonOf("a"));
}

/// What only one of them promises is no promise of the common code.
TEST(MergeKernels, PromisesWhatBothDo) {
  auto make = [](const std::string &name, const std::string &flags) {
    return makeKernel(name, 7, name == "a" ? 300 : 500,
                      "  %t = mul " + flags + "i64 %j, %task\n");
  };
  Merged merged(make("a", "nuw nsw ") + make("b", "nsw "));
  llvm::Function *common = merged.commonOf("a");
  ASSERT_TRUE(common);
  for (llvm::BasicBlock &block : *common)
    for (llvm::Instruction &i : block)
      if (i.getName() == "t") {
        EXPECT_TRUE(i.hasNoSignedWrap());
        EXPECT_FALSE(i.hasNoUnsignedWrap());
      }
}

/// Kernels that are launched often are not inlined, which is over by then.
TEST(MergeKernels, MergesWhatIsLaunchedOften) {
  std::string often = makeKernel("b", 7, 500);
  often.replace(often.find(" {"), 2, " noinline {");
  Merged merged(makeKernel("a", 7, 300) + often);
  ASSERT_TRUE(merged.commonOf("a"));
  EXPECT_EQ(merged.commonOf("b"), merged.commonOf("a"));
}

TEST(MergeKernels, LeavesShortOnes) {
  Merged merged(makeKernel("a", 7, 300, "", 20) +
                makeKernel("b", 7, 500, "", 20));
  EXPECT_FALSE(merged.commonOf("a"));
}

/// A division by a constant is a product.
TEST(MergeKernels, LeavesDivisorsOfLoops) {
  Merged merged(makeKernel("a", 7, 300, "  %q = udiv i64 %j, 3\n") +
                makeKernel("b", 7, 500, "  %q = udiv i64 %j, 5\n"));
  EXPECT_FALSE(merged.commonOf("a"));
}

TEST(MergeKernels, LeavesWhatDoesOtherThings) {
  Merged merged(makeKernel("a", 7, 300, "  %q = fadd float 1.0, 2.0\n") +
                makeKernel("b", 7, 500, "  %q = fadd float 1.0, 3.0\n") +
                makeKernel("c", 7, 500, "  %q = fmul float 1.0, 2.0\n"));
  EXPECT_FALSE(merged.commonOf("a"));
  EXPECT_FALSE(merged.commonOf("b"));
  EXPECT_FALSE(merged.commonOf("c"));
}

/// Two kernels that differ in `count` numbers, which their inner loop takes.
static std::string makeNumbers(int count) {
  auto make = [&](const std::string &name, int factor) {
    std::string extra;
    for (int i = 1; i <= count; ++i)
      extra += "  %t" + std::to_string(i) + " = mul i64 %j, " +
               std::to_string(1000 * i * factor) + "\n";
    return makeKernel(name, 7, 300, extra);
  };
  return make("a", 1) + make("b", 2);
}

TEST(MergeKernels, LeavesWhatTakesManyNumbersInARound) {
  EXPECT_TRUE(Merged(makeNumbers(6)).commonOf("a"));
  EXPECT_FALSE(Merged(makeNumbers(7)).commonOf("a"));
  EXPECT_FALSE(Merged(makeNumbers(20)).commonOf("a"));
}

TEST(MergeKernels, LeavesWhatOthersCall) {
  Merged merged(makeKernel("a", 7, 300, "", 100, "") +
                makeKernel("b", 7, 500, "", 100, ""));
  EXPECT_FALSE(merged.commonOf("a"));
}

} // namespace
