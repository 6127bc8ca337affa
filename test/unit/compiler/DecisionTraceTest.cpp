//===- DecisionTraceTest.cpp - rows of the decision trace -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/DecisionTrace.h"

#include "compiler/driver/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

#include <thread>

using namespace mlir;
using namespace ingot;

namespace {

class DecisionTraceTest : public ::testing::Test {
protected:
  DecisionTraceTest()
      : context(createContext()), builder(context.get()),
        module(ModuleOp::create(builder, builder.getUnknownLoc())) {
    readRemarks(*context, trace,
                [&](const remark::detail::Remark &) { ++numOthers; });
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// Makes an op of the node `name`, with a result of `sizes`.
  Operation *makeOp(StringRef name, ArrayRef<int64_t> sizes) {
    return tensor::EmptyOp::create(builder,
                                   NameLoc::get(builder.getStringAttr(name)),
                                   sizes, builder.getF32Type());
  }

  std::string json() { return trace.toJson({"m.onnx", R"(["--dim=n=1"])"}); }

  std::unique_ptr<MLIRContext> context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  DecisionTrace trace;
  int numOthers = 0;
};

TEST_F(DecisionTraceTest, TellsWhatWasDecided) {
  record(makeOp("stem", {1, 8}), Question::winograd, "direct",
         "computes tensor<1x8xf32>", {{"direct", 900}, {"winograd 4x4"}});
  std::vector<Decision> decisions = trace.getDecisions();
  ASSERT_EQ(decisions.size(), 1u);
  const Decision &decision = decisions.front();
  EXPECT_EQ(decision.operation, "empty");
  EXPECT_EQ(decision.nodes, std::vector<std::string>{"stem"});
  EXPECT_EQ(decision.sizes, "1x8");
  EXPECT_EQ(decision.question, Question::winograd);
  EXPECT_EQ(decision.choice, "direct");
  ASSERT_EQ(decision.alternatives.size(), 2u);
  EXPECT_EQ(decision.alternatives[0].cycles, 900);
  EXPECT_EQ(decision.alternatives[1].cycles, -1);
  EXPECT_EQ(decision.reason, "computes float32[1,8]");
  EXPECT_EQ(decision.level, "");
}

/// Patterns visit an op twice, and a compilation may follow a trial.
TEST_F(DecisionTraceTest, TheLastAnswerToAQuestionStands) {
  Operation *op = makeOp("stem", {1, 8});
  record(op, Question::layout, "channels first", "is tried");
  record(op, Question::layout, "channels last", "is a convolution");
  record(op, Question::backend, "native", "is taken", {{"native"}});
  record(makeOp("stem", {1, 9}), Question::layout, "channels last", "is other");
  std::vector<Decision> decisions = trace.getDecisions();
  ASSERT_EQ(decisions.size(), 3u);
  EXPECT_EQ(decisions[0].question, Question::backend);
  EXPECT_EQ(decisions[1].choice, "channels last");
  EXPECT_EQ(decisions[2].sizes, "1x9");
  trace.clear();
  EXPECT_TRUE(trace.getDecisions().empty());
}

TEST_F(DecisionTraceTest, LevelsHaveRowsOfTheirOwn) {
  Operation *op = makeOp("stem", {1, 8});
  for (StringRef level : {"x86-64-v4", "x86-64-v3"}) {
    IngotDialect::TargetAttrHelper(context.get())
        .setAttr(*module, TargetAttr::get(context.get(), level, {}));
    record(op, Question::schedule, "tiles of 6x16", "has one row");
  }
  std::vector<Decision> decisions = trace.getDecisions();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].level, "x86-64-v3");
  EXPECT_EQ(decisions[1].level, "x86-64-v4");
}

/// The level of a GPU's module is the level of its host.
TEST_F(DecisionTraceTest, DevicesHaveRowsOfTheirOwn) {
  Operation *op = makeOp("stem", {1, 8});
  auto level = TargetAttr::get(context.get(), "x86-64-v3", {});
  IngotDialect::TargetAttrHelper(context.get()).setAttr(*module, level);
  for (StringRef device : {"cuda", "cpu"}) {
    IngotDialect::TargetsAttrHelper(context.get())
        .setAttr(*module, TargetsAttr::get(context.get(), device, {level}, {}));
    record(op, Question::layout, "channels first", "is one");
  }
  std::vector<Decision> decisions = trace.getDecisions();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].device, "cpu");
  EXPECT_EQ(decisions[0].level, "x86-64-v3");
  EXPECT_EQ(decisions[1].device, "cuda");
  EXPECT_EQ(decisions[1].level, "");
  EXPECT_EQ(describe(decisions[1]),
            std::vector<std::string>{
                "layout: channels first, because the empty is one (cuda)"});
}

TEST_F(DecisionTraceTest, RowsAreSortedByNode) {
  for (StringRef node : {"conv_10", "conv_9", "conv_1"})
    record(makeOp(node, {1}), Question::layout, "channels last", "is one");
  std::string before = json();
  std::vector<Decision> decisions = trace.getDecisions();
  ASSERT_EQ(decisions.size(), 3u);
  EXPECT_EQ(decisions[0].nodes.front(), "conv_1");
  EXPECT_EQ(decisions[1].nodes.front(), "conv_9");
  EXPECT_EQ(decisions[2].nodes.front(), "conv_10");
  trace.clear();
  for (StringRef node : {"conv_9", "conv_1", "conv_10"})
    record(makeOp(node, {1}), Question::layout, "channels last", "is one");
  EXPECT_EQ(json(), before);
}

TEST_F(DecisionTraceTest, WritesJson) {
  record(makeOp("a\xff", {1, 8}), Question::precision, "float32",
         "is \"small\"", {{"int8", 70}, {"float32"}});
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(json());
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  const llvm::json::Object &root = *parsed->getAsObject();
  EXPECT_EQ(root.getInteger("ingot_decisions"), 1);
  EXPECT_EQ(root.getString("model"), "m.onnx");
  EXPECT_EQ((*root.getArray("options"))[0].getAsString(), "--dim=n=1");
  const llvm::json::Object &row =
      *(*root.getArray("decisions"))[0].getAsObject();
  EXPECT_EQ(row.getString("question"), "precision");
  EXPECT_EQ(row.getString("reason"), "is \"small\"");
  EXPECT_EQ(row.getString("device"), "cpu");
  EXPECT_TRUE(row.getNull("level"));
  const llvm::json::Array &alternatives = *row.getArray("alternatives");
  EXPECT_EQ(alternatives[0].getAsObject()->getInteger("cycles"), 70);
  EXPECT_TRUE(alternatives[1].getAsObject()->getNull("cycles"));
}

TEST_F(DecisionTraceTest, OtherRemarksGoToTheOtherReader) {
  Operation *op = makeOp("stem", {1});
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("channels").category("prune"))
      << remark::reason("2 of its 3 channels vanish");
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("loop").category("unroll"))
      << remark::reason("is nobody's");
  EXPECT_EQ(numOthers, 1);
  EXPECT_TRUE(trace.getDecisions().empty());
}

TEST_F(DecisionTraceTest, AnyThreadMayAdd) {
  context->enableMultithreading();
  std::vector<Operation *> ops;
  for (int i = 0; i < 64; ++i)
    ops.push_back(makeOp("node" + std::to_string(i), {1}));
  auto addHalf = [&](size_t first) {
    for (size_t i = first; i < ops.size(); i += 2)
      record(ops[i], Question::layout, "channels last", "is one");
  };
  std::thread other(addHalf, 1);
  addHalf(0);
  other.join();
  EXPECT_EQ(trace.getDecisions().size(), ops.size());
}

TEST_F(DecisionTraceTest, DescribesWhatIsUnusual) {
  record(makeOp("a", {1}), Question::backend, "loops",
         "other: is of native: type; native: has open sizes",
         {{"other", -1, "is of native: type"},
          {"native", -1, "has open sizes"},
          {"loops"}});
  record(makeOp("b", {1}), Question::backend, "native", "is the first",
         {{"native"}});
  record(makeOp("c", {1}), Question::layout, "channels first", "has groups");
  record(makeOp("d", {1}), Question::precision, "float32", "is small");
  record(makeOp("e", {1}), Question::precision, "int8", "is large");
  record(makeOp("f", {1}), Question::schedule, "tiles of 6x16", "has a row");
  std::vector<Decision> decisions = trace.getDecisions();
  ASSERT_EQ(decisions.size(), 6u);
  EXPECT_TRUE(isRemarkable(decisions[0]));
  EXPECT_EQ(describe(decisions[0]),
            (std::vector<std::string>{
                "'other' does not compute it: it is of native: type",
                "'native' does not compute it: it has open sizes"}));
  EXPECT_FALSE(isRemarkable(decisions[1]));
  EXPECT_TRUE(isRemarkable(decisions[2]));
  EXPECT_EQ(describe(decisions[2]),
            std::vector<std::string>{
                "layout: channels first, because the empty has groups"});
  EXPECT_TRUE(isRemarkable(decisions[3]));
  EXPECT_FALSE(isRemarkable(decisions[4]));
  EXPECT_FALSE(isRemarkable(decisions[5]));
}

} // namespace
