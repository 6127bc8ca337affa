//===- PolicyTest.cpp - answers of policies -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Costs.h"
#include "passes/cpu/policy/CpuPolicy.h"
#include "passes/cpu/policy/Scratch.h"
#include "passes/cpu/policy/Thresholds.h"

#include "compiler/pipeline/Register.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace ingot;

namespace {

/// Keeps the decisions of a context.
class Decisions : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Decisions(std::vector<std::string> &all) : all(all) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      if (arg.key == "Decision")
        all.push_back(arg.val);
  }

private:
  std::vector<std::string> &all;
};

class PolicyTest : public testing::Test {
protected:
  PolicyTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Returns the only op of `name` in a module with `targets`.
  Operation *parse(StringRef targets, StringRef name = "nn.matmul") {
    std::string text = ("module attributes {ingot.targets = #ingot.targets<" +
                        targets + R"(>} {
      func.func @f(%x: tensor<64x512xf32>) -> tensor<64x1024xf32> {
        %w = arith.constant dense<0.5> : tensor<512x1024xf32>
        %0 = nn.matmul %x, %w
          : (tensor<64x512xf32>, tensor<512x1024xf32>) -> tensor<64x1024xf32>
        return %0 : tensor<64x1024xf32>
      }})")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (op->getName().getStringRef() == name)
        found = op;
    });
    return found;
  }

  /// Writes all further decisions to `all`.
  void recordTo(std::vector<std::string> &all) {
    remark::RemarkCategories categories;
    categories.analysis = kDecisionCategory.str();
    ASSERT_TRUE(succeeded(remark::enableOptimizationRemarks(
        context, std::make_unique<Decisions>(all),
        std::make_unique<remark::RemarkEmittingPolicyAll>(), categories)));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

bool hasFloats() { return true; }

Int8Candidate siteOfFloats() { return {/*ofInput=*/true, hasFloats}; }

// A device without a policy computes in f32, and says why.
TEST_F(PolicyTest, DeclinesForUnknownDevice) {
  Operation *op = parse("toaster, [<\"x86-64-v3\">]");
  ASSERT_TRUE(op);
  const Policy &policy = Policy::of(op);
  for (const Answer<bool> &answer :
       {policy.multiplyInt8(op, siteOfFloats()),
        policy.multiplyDynamicBytes(op),
        policy.multiplyBytesInLoop(op, 1 << 30, 1),
        policy.multiplyInt16(op, OptimizeFor::speed), policy.multiplyBF16(op),
        policy.storeF16Weights(op, 1 << 30), policy.multiplyF16(op),
        policy.packWeights(cast<nn::MatMulOp>(op), {4, 1 << 30}),
        policy.packWeightsInLoop(cast<nn::MatMulOp>(op), 1 << 30)}) {
    EXPECT_FALSE(answer.choice);
    EXPECT_EQ(answer.reason, "is for a device without a policy");
  }
  EXPECT_FALSE(policy.fitPairs(op).choice);
  EXPECT_FALSE(policy.prefersBF16(op));
}

TEST_F(PolicyTest, AnswersForCpu) {
  std::vector<std::string> all;
  recordTo(all);
  Operation *op = parse("cpu, [<\"x86-64-v3\">]");
  ASSERT_TRUE(op);
  const Policy &policy = Policy::of(op);
  Answer<bool> bytes = policy.multiplyDynamicBytes(op);
  EXPECT_TRUE(bytes.choice);
  EXPECT_FALSE(bytes.reason.empty());
  ASSERT_EQ(bytes.alternatives.size(), 2u);
  EXPECT_EQ(bytes.alternatives[0].name, "float32");
  EXPECT_EQ(bytes.alternatives[1].name, "int8");
  EXPECT_GT(bytes.alternatives[0].cycles, bytes.alternatives[1].cycles);
  EXPECT_EQ(policy.fitPairs(op).choice, std::optional<int64_t>(0));
  EXPECT_EQ(policy.halfPrecisionForm(op, Precision::bf16),
            HalfPrecisionForm::f16Weights);
}

// Weights are packed if the model has many of them. 64 rows need four times as
// many as few rows.
TEST_F(PolicyTest, PacksManyWeights) {
  std::vector<std::string> all;
  recordTo(all);
  auto answerFor = [&](StringRef targets, int64_t weights, bool areIntegers) {
    auto op = cast<nn::MatMulOp>(parse(targets));
    return Policy::of(op).packWeights(op, {4, weights, -1, areIntegers});
  };
  StringRef usual = "cpu, [<\"x86-64-v3\">]",
            large = "cpu, [<\"x86-64-v3\", l2 = 2097152>]";
  EXPECT_TRUE(answerFor(usual, 1 << 20, false).choice);
  EXPECT_FALSE(answerFor(usual, (1 << 20) - 1, false).choice);
  EXPECT_FALSE(answerFor(large, 1 << 20, false).choice);
  // Rows do not matter if the model has integers.
  EXPECT_TRUE(answerFor(usual, 1 << 18, true).choice);
  EXPECT_FALSE(answerFor(large, 1 << 18, true).choice);
  auto answer = answerFor(usual, 1 << 20, false);
  ASSERT_EQ(answer.alternatives.size(), 2u);
  EXPECT_EQ(answer.alternatives[1].name, "int4");
  EXPECT_GE(answer.alternatives[0].cycles, answer.alternatives[1].cycles);
  EXPECT_GT(answer.alternatives[1].cycles, 0);
}

// Estimates are not computed if no decisions are recorded.
TEST_F(PolicyTest, EstimatesForReadersOnly) {
  Operation *op = parse("cpu, [<\"x86-64-v3\">]");
  ASSERT_TRUE(op);
  Answer<bool> bytes = Policy::of(op).multiplyDynamicBytes(op);
  EXPECT_TRUE(bytes.choice);
  EXPECT_TRUE(bytes.alternatives.empty());
}

// Without a policy, images have the layout of the nn dialect.
TEST_F(PolicyTest, LaysOutChannelsLast) {
  for (StringRef targets :
       {"toaster, [<\"x86-64-v3\">]", "cpu, [<\"x86-64-v3\">]"}) {
    Operation *op = parse(targets);
    ASSERT_TRUE(op);
    EXPECT_EQ(Policy::of(op).layOut(op).choice, Layout::channelsLast);
  }
}

TEST_F(PolicyTest, PairsAreForWordsAlone) {
  Operation *op = parse("cpu, [<\"x86-64-v3\">, <\"znver4\">]");
  ASSERT_TRUE(op);
  auto fit = Policy::of(op).fitPairs(op);
  EXPECT_EQ(fit.choice, std::nullopt);
  EXPECT_EQ(fit.reason,
            "is for CPUs whose instructions add four products of bytes");
}

TEST_F(PolicyTest, FormOfHalvesFollowsLevels) {
  auto formOf = [&](StringRef targets, Precision asked) {
    Operation *op = parse(targets);
    return Policy::of(op).halfPrecisionForm(op, asked);
  };
  StringRef mixed = "cpu, [<\"x86-64-v3\">], may = [<\"znver4\">]",
            newest = "cpu, [<\"avx512fp16\">, <\"sapphirerapids\">]";
  EXPECT_EQ(formOf(mixed, Precision::bf16), HalfPrecisionForm::bf16);
  EXPECT_EQ(formOf(mixed, Precision::fp16), HalfPrecisionForm::f16Weights);
  EXPECT_EQ(formOf(newest, Precision::fp16), HalfPrecisionForm::f16);
}

// An attribute carries the choice, the alternatives and the reason.
TEST_F(PolicyTest, RecordsDecision) {
  std::vector<std::string> all;
  recordTo(all);
  Operation *op = parse("cpu, [<\"x86-64-v3\">]");
  ASSERT_TRUE(op);
  Answer<bool> answer{true, "is large", {{"float32", 20}, {"int8", 5}}};
  EXPECT_TRUE(record(op, Question::precision, answer, "int8", "float32"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front(),
            "#ingot.decision<precision, \"int8\", [<\"float32\", cycles = 20>, "
            "<\"int8\", cycles = 5>], \"is large\">");
}

TargetInfo targetOf(StringRef level) {
  return TargetInfo(findLevel(level)->features, TargetNumbers());
}

TEST(Costs, FollowsTarget) {
  using cpu::Form;
  cpu::ProductSize size{1 << 20, 1 << 10, 1 << 10, 1 << 10};
  auto cycles = [&](Form form, StringRef level) {
    return cpu::estimateCycles(size, form, targetOf(level));
  };
  EXPECT_EQ(cycles(Form::f32, "x86-64-v3"), (1 << 20) / 16);
  EXPECT_EQ(cycles(Form::f32, "x86-64-v4"), (1 << 20) / 32);
  EXPECT_LT(cycles(Form::int8, "cascadelake"), cycles(Form::int8, "x86-64-v4"));
  EXPECT_LT(cycles(Form::bf16, "sapphirerapids"), cycles(Form::bf16, "znver4"));
  EXPECT_EQ(cycles(Form::bf16, "x86-64-v4"), -1);
  EXPECT_EQ(cycles(Form::f16, "znver4"), -1);
  EXPECT_GT(cycles(Form::dynamicInt8, "znver4"), cycles(Form::int8, "znver4"));
}

// A product with one row is bound by loading weights. With half as many bytes,
// it takes half of the time.
TEST(Costs, MemoryBound) {
  cpu::ProductSize size{1 << 24, 1 << 24, 1 << 12, 1 << 12};
  TargetInfo target = targetOf("x86-64-v4");
  int64_t floats = cpu::estimateCycles(size, cpu::Form::f32, target);
  int64_t halves = cpu::estimateCycles(size, cpu::Form::f16Weights, target);
  EXPECT_NEAR(double(halves) / double(floats), 0.5, 0.02);
}

TEST(Thresholds, SharesOfCaches) {
  TargetNumbers numbers;
  EXPECT_EQ(cpu::threshold::byteFloatsInCache(numbers), 1 << 17);
  EXPECT_EQ(cpu::threshold::byteGroupsInCache(numbers), 1 << 18);
  EXPECT_EQ(cpu::threshold::byteVolumesInCache(numbers), 1 << 15);
  EXPECT_EQ(cpu::threshold::halfWeightsInCache(numbers), 1 << 19);
  EXPECT_EQ(cpu::threshold::pairedMostGroups(numbers), 4096);
  EXPECT_EQ(cpu::threshold::packedWeights(numbers), 1 << 18);
  EXPECT_EQ(cpu::threshold::packedMatrix(numbers), 1 << 14);
  EXPECT_EQ(cpu::threshold::bf16FewestWeightsOfRows(numbers), 1 << 15);
  EXPECT_EQ(cpu::threshold::unpackedBytes(numbers), 64 << 10);
  EXPECT_EQ(cpu::threshold::widenedBytes(numbers), 64 << 10);
  EXPECT_EQ(cpu::threshold::widenedF16Bytes(numbers), 256 << 10);
  EXPECT_EQ(cpu::threshold::linesOfSet(numbers), 8);
  numbers.l2 *= 2;
  EXPECT_EQ(cpu::threshold::byteFloatsInCache(numbers), 1 << 18);
  EXPECT_EQ(cpu::threshold::packedMatrix(numbers), 1 << 15);
  EXPECT_EQ(cpu::threshold::bf16FewestWeightsOfRows(numbers), 1 << 16);
  EXPECT_EQ(cpu::threshold::unpackedBytes(numbers), 128 << 10);
  EXPECT_EQ(cpu::threshold::widenedBytes(numbers), 128 << 10);
  EXPECT_EQ(cpu::threshold::widenedF16Bytes(numbers), 512 << 10);
  numbers.l1 = 48 << 10;
  EXPECT_EQ(cpu::threshold::linesOfSet(numbers), 12);
}

// A share of a large cache does not exceed the stack.
TEST(Thresholds, FitStack) {
  EXPECT_EQ(cpu::fitStack(256 << 10), 256 << 10);
  EXPECT_EQ(cpu::fitStack(512 << 10), cpu::kMaxScratchBytes);
}

} // namespace
