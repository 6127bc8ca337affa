//===- CommandFixture.h - the ingot command as a process ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_TOOLS_COMMANDFIXTURE_H
#define INGOT_TEST_UNIT_TOOLS_COMMANDFIXTURE_H

#include "tools/ingot/Console.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace ingot::test {

namespace fs = std::filesystem;

inline std::string readText(const std::string &path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Parses JSON. Anything else becomes null and fails the test.
inline tools::Json parseJson(const std::string &text) {
  tools::Json json = tools::Json::parse(text, /*callback=*/nullptr,
                                        /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << text;
  return json.is_discarded() ? tools::Json() : json;
}

class CommandFixture : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/ingot-test-XXXXXX";
    directory = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(directory); }

  /// Runs `ingot arguments`. In arguments, `@` stands for the artifacts' folder
  /// and `%` for the test's own.
  int run(std::string arguments, const std::string &environment = "") {
    for (size_t at; (at = arguments.find('@')) != std::string::npos;)
      arguments.replace(at, 1, INGOT_TEST_ARTIFACTS);
    for (size_t at; (at = arguments.find('%')) != std::string::npos;)
      arguments.replace(at, 1, directory + "/");
    std::string command = environment + " " + INGOT_TEST_COMMAND + " " +
                          arguments + " >" + directory + "/out 2>" + directory +
                          "/err";
    int status = system(command.c_str());
    out = readText(directory + "/out");
    err = readText(directory + "/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Returns the JSON document on standard output.
  tools::Json document() { return parseJson(out); }
  void expectError(const std::string &arguments, int exitCode,
                   const std::string &message,
                   const std::string &environment = "") {
    EXPECT_EQ(run(arguments, environment), exitCode) << arguments;
    EXPECT_EQ(out, "");
    EXPECT_EQ(err.find(message), 0u) << err;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  }
  std::string directory, out, err;
};

} // namespace ingot::test

#endif // INGOT_TEST_UNIT_TOOLS_COMMANDFIXTURE_H
