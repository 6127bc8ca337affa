//===- OptionsTest.cpp - parsing of options and of options files ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Options.h"
#include "tools/ingot/OptionsFile.h"

#include "gtest/gtest.h"

#include <fstream>
#include <stdio.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

namespace {

/// Parses command lines of `ingot compile`.
class Options : public testing::Test {
protected:
  ~Options() override { remove(path.c_str()); }

  /// Returns the exit code, or -1 if the command goes on.
  int parse(std::vector<std::string> arguments) {
    flags = {};
    model.clear();
    parser.emplace(cli::CommandId::compile);
    parser->addCompile(flags);
    arguments.insert(arguments.begin(), "compile");
    std::vector<char *> argv;
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    int exitCode = 0;
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    bool goesOn = parser->parse(int(argv.size()), argv.data(), model, exitCode);
    error = testing::internal::GetCapturedStderr();
    output = testing::internal::GetCapturedStdout();
    return goesOn ? -1 : exitCode;
  }

  void expectError(const std::vector<std::string> &arguments,
                   const std::string &message) {
    EXPECT_EQ(parse(arguments), exitUsage);
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), error.size() - 1);
    EXPECT_EQ(output, "");
  }

  /// Parses a file with this text, and the other arguments.
  int parseFile(const std::string &text,
                std::vector<std::string> arguments = {}) {
    std::ofstream(path) << text;
    arguments.insert(arguments.begin(), "@" + path);
    return parse(arguments);
  }

  void expectFileError(const std::string &text, const std::string &message,
                       std::vector<std::string> arguments = {}) {
    EXPECT_EQ(parseFile(text, std::move(arguments)), exitUsage) << text;
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), error.size() - 1);
  }

  cli::CompileFlags flags;
  std::optional<OptionParser> parser;
  std::string model, error, output;
  std::string path =
      testing::TempDir() + "options" + std::to_string(getpid()) + ".json";
};

TEST_F(Options, Kinds) {
  ASSERT_EQ(parse({"m.onnx", "-o", "out.so", "--shape", "x=1x3", "--shape=y=2",
                   "--winograd=false", "--header", "-q", "--schedule-seed=7",
                   "--weights", "file"}),
            -1)
      << error;
  EXPECT_EQ(model, "m.onnx");
  EXPECT_EQ(flags.output, "out.so");
  EXPECT_EQ(flags.shapes, (std::vector<std::string>{"x=1x3", "y=2"}));
  EXPECT_FALSE(flags.winograd);
  EXPECT_TRUE(flags.header);
  EXPECT_TRUE(flags.quiet);
  EXPECT_EQ(flags.scheduleSeed, 7u);
  EXPECT_EQ(flags.weights, "file");
  EXPECT_TRUE(parser->isGiven("weights"));
  EXPECT_FALSE(parser->isGiven("target"));
}

TEST_F(Options, EndOfOptions) {
  ASSERT_EQ(parse({"--quiet", "--", "-m.onnx"}), -1);
  EXPECT_EQ(model, "-m.onnx");
  ASSERT_EQ(parse({"--", "@m.json"}), -1);
  EXPECT_EQ(model, "@m.json");
  ASSERT_EQ(parse({"@m.onnx"}), -1);
  EXPECT_EQ(model, "@m.onnx");
}

TEST_F(Options, Errors) {
  expectError({}, "no model.onnx is given");
  expectError({"m", "n"}, "unexpected argument 'n'");
  expectError({"m", "--taget=x"},
              "unknown option '--taget' (did you mean --target?)");
  expectError({"m", "-x"}, "unknown option '-x'");
  expectError({"m", "--target"}, "option --target needs a value, LEVELS");
  expectError({"m", "-o", "--quiet"}, "option -o needs a value, FILE");
  expectError({"m", "--target="}, "option --target is empty");
  expectError({"m", "--quiet=1"}, "option --quiet takes no value");
  expectError({"m", "--winograd=no"},
              "option --winograd must be true or false, not 'no'");
  expectError({"m", "--schedule-seed=-1"},
              "option --schedule-seed must be a number, not '-1'");
  expectError({"m", "--weights=far"},
              "unknown --weights=far: use embed or file");
  expectError({"m", "-o", "a", "--output=b"},
              "option --output is given twice: 'a' and 'b'");
  EXPECT_EQ(
      parse({"m", "-o", "a", "--output=a", "--winograd", "--winograd=true"}),
      -1);
}

TEST_F(Options, AllowedWith) {
  expectError({"m", "--weight-bits=7"},
              "--weight-bits is for --precision=int8, int8-dynamic and auto");
  EXPECT_EQ(parse({"m", "--weight-bits=7", "--precision=int8"}), -1);
  EXPECT_EQ(parse({"m", "--precision", "auto", "--weight-bits=7"}), -1);
  expectError({"m", "--data=x", "--precision=int8"},
              "--data is for --report with --precision=int8");
  expectError({"m", "--data=x", "--report=r.html", "--precision=auto"},
              "--data is for --report with --precision=int8");
  EXPECT_EQ(parse({"m", "--data=x", "--report=r.html", "--precision=int8"}),
            -1);
  expectError({"m", "--emit=asm", "--compile-to=nn"},
              "--compile-to and --emit exclude each other");
}

TEST_F(Options, File) {
  ASSERT_EQ(parseFile(R"({"model": "m.onnx", "shape": ["x=1", "y=2"],
                          "winograd": false, "quiet": true, "timing": false,
                          "schedule-seed": 9, "weights": "file"})",
                      {"--target=x86-64-v3", "--shape=z=3"}),
            -1)
      << error;
  EXPECT_EQ(model, "m.onnx");
  EXPECT_EQ(flags.shapes, (std::vector<std::string>{"x=1", "y=2", "z=3"}));
  EXPECT_FALSE(flags.winograd);
  EXPECT_TRUE(flags.quiet);
  EXPECT_FALSE(flags.timing);
  EXPECT_EQ(flags.scheduleSeed, 9u);
  EXPECT_EQ(flags.weights, "file");
  EXPECT_EQ(flags.target, "x86-64-v3");
  // Equal values do not contradict each other.
  EXPECT_EQ(parseFile(R"({"model": "m", "target": "a"})", {"--target=a"}), -1);
}

TEST_F(Options, WrongFile) {
  expectFileError(R"({"taget": "x"})",
                  "unknown key 'taget' (did you mean target?)");
  expectFileError(R"({"target": "a", "target": "a"})",
                  "key 'target' is given twice");
  expectFileError(R"({"model": "m", "target": "a"})",
                  "option --target is given twice: 'a' and 'b'",
                  {"--target=b"});
  expectFileError(R"({"model": "m", "emit": "asm", "compile-to": "nn"})",
                  "--compile-to and --emit exclude each other");
  expectFileError(R"({"model": "m"})", "unexpected argument 'n'", {"n"});
  expectFileError(R"({"model": 3})", "the value of 'model' must be a string");
  expectFileError(R"({"target": true})",
                  "the value of 'target' must be a string");
  expectFileError(R"({"quiet": "yes"})",
                  "the value of 'quiet' must be true or false");
  expectFileError(R"({"shape": "x=1"})",
                  "the value of 'shape' must be an array of strings");
  expectFileError(R"({"shape": [1]})", "the value of 'shape' must be");
  expectFileError(R"({"shape": [["x"]]})", "the value of 'shape' must be");
  expectFileError(R"({"target": {"a": 1}})", "the value of 'target' must be");
  expectFileError(R"({"target": null})", "the value of 'target' must be");
  expectFileError(R"({"schedule-seed": 1.5})",
                  "the value of 'schedule-seed' must be");
  expectFileError(R"({"weights": "far"})",
                  "unknown --weights=far: use embed or file");
  for (const char *text : {"", "[]", "3", "{", "{}}", "{\"a\"}", "\"x\""})
    expectFileError(text, path);
  EXPECT_EQ(parse({"@/nowhere/x.json"}), exitFailure);
  EXPECT_NE(error.find("/nowhere/x.json"), std::string::npos);
}

TEST_F(Options, FileRoundTrip) {
  ASSERT_EQ(parse({"m \"1\".onnx", "--shape=x=1", "--dim=n=2", "--shape=y=2",
                   "--winograd=false", "--header", "-q", "--schedule-seed=007",
                   "-o", "a\n.so", "--save-options=s.json"}),
            -1);
  const std::string text =
      optionsFileText(model, parser->given(), "save-options");
  ASSERT_EQ(parseFile(text), -1) << text << error;
  EXPECT_EQ(model, "m \"1\".onnx");
  EXPECT_EQ(flags.output, "a\n.so");
  EXPECT_EQ(flags.shapes, (std::vector<std::string>{"x=1", "y=2"}));
  EXPECT_FALSE(flags.winograd);
  EXPECT_EQ(flags.scheduleSeed, 7u);
  EXPECT_EQ(flags.saveOptions, "");
  EXPECT_EQ(optionsFileText(model, parser->given(), ""), text);
}

TEST_F(Options, Help) {
  EXPECT_EQ(parse({"--help"}), exitSuccess);
  EXPECT_NE(output.find("usage: ingot compile MODEL.onnx"), std::string::npos);
  EXPECT_NE(output.find("--precision fp32|tf32|bf16|"), std::string::npos);
  EXPECT_EQ(output.find("--weight-bits"), std::string::npos);
  EXPECT_EQ(parse({"--help-all"}), exitSuccess);
  EXPECT_NE(output.find("--weight-bits auto|7|8"), std::string::npos);
  EXPECT_NE(output.find("ingot help quantization"), std::string::npos);
  EXPECT_EQ(output.find("--schedule-seed"), std::string::npos);
}

} // namespace
