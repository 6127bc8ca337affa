//===- OptionWordsTest.cpp - words of options in the compiler -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests that the words in the table of options are those of the compiler.
//
//===----------------------------------------------------------------------===//
#include "base/OptionTable.h"
#include "compiler/pipeline/Backends.h"
#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/Methods.h"
#include "passes/support/OptimizeFor.h"

#include "gtest/gtest.h"

using namespace ingot;

using Words = std::vector<std::string>;

static const cli::Option &find(cli::CommandId command,
                               const std::string &name) {
  for (const cli::Option *option : cli::optionsOf(command))
    if (name == option->name)
      return *option;
  abort();
}

static Words wordsOf(cli::CommandId command, const std::string &name) {
  return cli::wordsOf(find(command, name));
}

TEST(OptionWords, Methods) {
  Words methods;
  for (quantize::Method method : quantize::allMethods())
    methods.push_back(quantize::nameOf(method));
  EXPECT_EQ(wordsOf(cli::CommandId::calibrate, "method"), methods);
  EXPECT_EQ(defaultText(find(cli::CommandId::calibrate, "method")),
            methods.front());
}

TEST(OptionWords, Precisions) {
  for (const std::string &name :
       wordsOf(cli::CommandId::compile, "precision")) {
    PipelineOptions options;
    EXPECT_TRUE(setPrecision(name, options)) << name;
  }
}

TEST(OptionWords, Goals) {
  Words goals;
  for (const SizeRule &rule : kSizeRules)
    goals.push_back(rule.name.str());
  EXPECT_EQ(wordsOf(cli::CommandId::compile, "optimize"), goals);
}

TEST(OptionWords, Phases) {
  Words phases{"onnx"}, kinds{"so", "obj", "asm", "llvm", "mlir-onnx"};
  for (const Phase &phase : getPhases()) {
    phases.push_back(phase.name);
    kinds.push_back(std::string("mlir-") + phase.name);
  }
  EXPECT_EQ(wordsOf(cli::CommandId::compile, "compile-to"), phases);
  EXPECT_EQ(wordsOf(cli::CommandId::compile, "emit"), kinds);
}

TEST(OptionWords, Kernels) {
  EXPECT_EQ(defaultText(find(cli::CommandId::compile, "kernels")),
            kDefaultKernels);
}
