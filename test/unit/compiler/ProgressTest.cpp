//===- ProgressTest.cpp - progress and cancellation of a compilation ------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compiler.h"
#include "test/unit/base/Folder.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <algorithm>

using namespace ingot;
using ingot::test::Names;

namespace {

// The weights have a shape, but no list of numbers.
constexpr char kModel[] = "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                          "net (float[1,8,8,8] x) => (float[1,8,8,8] y)\n"
                          "<int64[4] s = {8, 8, 3, 3}>\n"
                          "{\n"
                          "  f = ConstantOfShape <value = float[1] {0.5}> (s)\n"
                          "  c = Conv <pads = [1,1,1,1]> (x, f)\n"
                          "  y = Relu (c)\n"
                          "}\n";

class CompileProgress : public ingot::test::Folder {
protected:
  CompileProgress() {
    write("m.onnx", kModel);
    options.input = at("m.onnx");
    options.output = at("m.so");
    options.target = "x86-64-v3,x86-64-v4";
  }

  /// Compiles, and collects the errors.
  bool compile() {
    errors.clear();
    std::unique_ptr<mlir::MLIRContext> context = createContext();
    context->getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
      return mlir::success();
    });
    return succeeded(compileModel(options, *context));
  }

  CompileOptions options;
  std::vector<std::string> errors;
};

TEST_F(CompileProgress, FractionsRise) {
  std::vector<double> fractions;
  std::set<std::string> phases;
  options.progress.onStep = [&](const std::string &phase, double fraction) {
    fractions.push_back(fraction);
    phases.insert(phase);
  };
  ASSERT_TRUE(compile()) << (errors.empty() ? "" : errors.front());
  ASSERT_GT(fractions.size(), 20u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.front(), 0);
  EXPECT_GT(fractions.back(), 0.8);
  EXPECT_LE(fractions.back(), 1);
  EXPECT_TRUE(phases.count("import"));
  EXPECT_TRUE(phases.count("code generation for x86-64-v4"));
  EXPECT_TRUE(phases.count("link"));
}

/// Cancels the compilation when it asks for the first time, then for the
/// second, and so on. At last it never asks that often, and succeeds.
TEST_F(CompileProgress, CancelledAtAnyPointLeavesNoFile) {
  unsigned most = 1;
  for (;; most += most / 4 + 1) {
    unsigned asked = 0;
    options.progress.isCancelled = [&] { return ++asked >= most; };
    if (compile())
      break;
    EXPECT_EQ(errors, std::vector<std::string>{kCancelled.str()});
    EXPECT_EQ(names(), Names{"m.onnx"});
    ASSERT_LT(most, 100000u);
  }
  EXPECT_GT(most, 50u);
  EXPECT_EQ(names(), (Names{"m.h", "m.onnx", "m.so"}));
}

TEST_F(CompileProgress, TellsTheOperators) {
  llvm::StringMap<std::string> operators;
  options.operators = &operators;
  ASSERT_TRUE(compile()) << (errors.empty() ? "" : errors.front());
  std::set<std::string> found;
  for (const auto &entry : operators)
    found.insert(entry.second);
  EXPECT_TRUE(found.count("Conv"));
  EXPECT_TRUE(found.count("Relu"));
}

} // namespace
