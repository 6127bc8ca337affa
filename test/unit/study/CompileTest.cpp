//===- CompileTest.cpp - compilations as another program asks for them ----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/CompileReport.h"
#include "compiler/study/runs/Errors.h"
#include "test/unit/base/Folder.h"

using namespace ingot;
using namespace ingot::study;

namespace {

/// Has a model. Checks that nothing is printed.
class Compile : public test::Folder {
protected:
  void SetUp() override {
    write("model.onnx", "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                        "sums (float[2,4] x) => (float[2,4] y)\n"
                        "{\n  y = Add (x, x)\n}\n");
    command.model = at("model.onnx");
    command.flags.output = at("model.so");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }

  void TearDown() override {
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }

  CompileRequest request() {
    llvm::Expected<CompileRequest> made = readRequest(command);
    EXPECT_TRUE(bool(made));
    if (made)
      return std::move(*made);
    ADD_FAILURE() << llvm::toString(made.takeError());
    return {};
  }

  /// Returns the text of the error that the command makes, or "".
  std::string refusal() {
    llvm::Expected<CompileRequest> made = readRequest(command);
    std::string text;
    if (!made)
      llvm::handleAllErrors(made.takeError(), [&](const StudyError &error) {
        text = (error.isUsage() ? "usage: " : "") + error.messages()[0].text;
      });
    return text;
  }

  Progress progress() {
    Progress result;
    result.onMessage = [this](const Message &message) {
      messages.push_back(message);
    };
    return result;
  }

  CompileCommand command;
  std::vector<Message> messages;
};

TEST_F(Compile, WritesAndReports) {
  command.flags.timing = command.flags.json = true;
  CompileSession session(request(), progress());
  llvm::Expected<CompileOutcome> outcome = session.run();
  ASSERT_TRUE(bool(outcome)) << llvm::toString(outcome.takeError());
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(names(), (test::Names{"model.h", "model.onnx", "model.so"}));
  EXPECT_EQ(textReport(*outcome).rfind(at("model.so") + ": ", 0), 0u);
  const tools::Json json = jsonReport(*outcome);
  EXPECT_EQ(json["header"], at("model.h"));
  EXPECT_EQ(json["artifact_bytes"], std::filesystem::file_size(at("model.so")));
  EXPECT_TRUE(tools::Json::accept(session.times()));
}

TEST_F(Compile, DescribesPasses) {
  CompileSession session(request(), progress());
  llvm::Expected<std::string> passes = session.describePasses();
  ASSERT_TRUE(bool(passes)) << llvm::toString(passes.takeError());
  EXPECT_NE(passes->find("nn-assign-backends"), std::string::npos);
  EXPECT_EQ(session.times(), "");
  EXPECT_EQ(names(), test::Names{"model.onnx"});
}

TEST_F(Compile, SendsErrors) {
  write("model.onnx", "junk");
  CompileSession session(request(), progress());
  llvm::Expected<CompileOutcome> outcome = session.run();
  ASSERT_FALSE(bool(outcome));
  EXPECT_TRUE(outcome.errorIsA<Reported>());
  llvm::consumeError(outcome.takeError());
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages[0].severity, Severity::error);
  EXPECT_EQ(names(), test::Names{"model.onnx"});
}

TEST_F(Compile, RefusesWrongTexts) {
  command.flags.emulateOn = "pentium";
  EXPECT_EQ(refusal(), "usage: --emulate-on: unknown CPU level 'pentium' to "
                       "emulate on");
  command.flags.emulateOn = "";
  command.flags.kernels = "none.json";
  EXPECT_EQ(refusal().rfind("--kernels: ", 0), 0u) << refusal();
}

TEST_F(Compile, ChecksSavedOptions) {
  const CompileRequest made = request();
  EXPECT_FALSE(bool(checkSavedOptions(at("options.json"), made)));
  llvm::Error error = checkSavedOptions(at("model.h"), made);
  EXPECT_TRUE(error.isA<StudyError>());
  llvm::consumeError(std::move(error));
}

} // namespace
