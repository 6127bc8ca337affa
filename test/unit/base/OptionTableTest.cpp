//===- OptionTableTest.cpp - the table of options -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/OptionTable.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <ctype.h>
#include <set>

using namespace ingot::cli;

static const Option *find(CommandId command, const std::string &name) {
  for (const Option *option : optionsOf(command))
    if (name == option->name)
      return option;
  return nullptr;
}

/// Calls `check` for each option of each command.
template <typename Check>
static void forEach(Check check) {
  for (const Command &command : allCommands())
    for (const Option *option : optionsOf(command.id)) {
      SCOPED_TRACE(std::string(command.name) + " --" + option->name);
      check(command, *option);
    }
}

TEST(OptionTable, NamesAreUnique) {
  for (const Command &command : allCommands()) {
    std::set<std::string> names{"help", "help-all", "version", "model"};
    std::set<char> letters{'h'};
    for (const Option *option : optionsOf(command.id)) {
      EXPECT_TRUE(names.insert(option->name).second) << option->name;
      EXPECT_TRUE(!option->letter || letters.insert(option->letter).second)
          << option->name;
    }
  }
}

TEST(OptionTable, TextIsComplete) {
  forEach([](const Command &, const Option &option) {
    std::string summary = option.summary, details = option.details;
    ASSERT_FALSE(summary.empty());
    EXPECT_NE(summary.back(), '.');
    EXPECT_LE(summary.size(), option.has(Usual) ? 48u : 72u);
    EXPECT_TRUE(details.empty() || details.back() == '.');
    EXPECT_EQ(option.kind.id == KindId::flag, !*option.value);
    for (const char *word : {"What ", "Of ", "That ", "Those ", "Whether "})
      EXPECT_NE(details.find(word), 0u);
  });
  for (const Group &group : allGroups())
    EXPECT_EQ(std::string(group.text).back(), '.');
}

TEST(OptionTable, AFewOptionsAreUsual) {
  for (const Command &command : allCommands()) {
    auto options = optionsOf(command.id);
    auto usual =
        std::count_if(options.begin(), options.end(),
                      [](const Option *option) { return option->has(Usual); });
    EXPECT_GT(usual, 0) << command.name;
    EXPECT_LE(usual, 10) << command.name;
  }
  auto options = optionsOf(CommandId::compile);
  EXPECT_EQ(
      std::count_if(options.begin(), options.end(),
                    [](const Option *option) { return option->has(Usual); }),
      10);
}

TEST(OptionTable, Defaults) {
  CompileFlags flags;
  EXPECT_EQ(flags.weights, "embed");
  EXPECT_TRUE(flags.header);
  EXPECT_FALSE(flags.quiet);
  EXPECT_TRUE(flags.shapes.empty());
  EXPECT_EQ(BenchFlags().iterations, 10u);
  auto text = [](CommandId command, const char *name) {
    return defaultText(*find(command, name));
  };
  EXPECT_EQ(text(CommandId::compile, "weights"), "embed");
  EXPECT_EQ(text(CommandId::compile, "output"), "");
  EXPECT_EQ(text(CommandId::compile, "winograd"), "true");
  EXPECT_EQ(text(CommandId::compile, "quiet"), "");
  EXPECT_EQ(text(CommandId::compile, "shape"), "");
  EXPECT_EQ(text(CommandId::bench, "iterations"), "10");
  EXPECT_EQ(text(CommandId::bench, "threads"), "");
  forEach([](const Command &, const Option &option) {
    std::vector<std::string> words = wordsOf(option);
    std::string initial = defaultText(option);
    EXPECT_TRUE(option.kind.id != KindId::choice || initial.empty() ||
                std::find(words.begin(), words.end(), initial) != words.end());
  });
}

TEST(OptionTable, Words) {
  auto words = [](const char *name) {
    return wordsOf(*find(CommandId::compile, name));
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("weight-bits"), (Words{"auto", "7", "8"}));
  EXPECT_EQ(words("kernels"), (Words{"native", "onednn", "auto"}));
  EXPECT_EQ(words("winograd"), (Words{"true", "false"}));
  EXPECT_EQ(words("target"), Words{});
  EXPECT_TRUE(takesPath(*find(CommandId::compile, "kernels")));
  EXPECT_FALSE(takesPath(*find(CommandId::compile, "target")));
}

TEST(OptionTable, AllowedWith) {
  auto text = [](CommandId command, const char *name) {
    std::string all;
    for (const std::string &one :
         describe(allowedWith(*find(command, name), command)))
      all += one;
    return all;
  };
  EXPECT_EQ(text(CommandId::compile, "weight-bits"),
            "Only for --precision=int8, int8-dynamic and auto.");
  EXPECT_EQ(text(CommandId::compile, "data"),
            "Only for --report with --precision=int8.");
  EXPECT_EQ(text(CommandId::compile, "weights"),
            "Only for --emit=so.Not with --compile-to or --print-pipeline.");
  EXPECT_EQ(text(CommandId::inspect, "weights"),
            "Only for --verify, --shape and --dim.");
  EXPECT_EQ(text(CommandId::compile, "target"), "");
  // Ignores conditions on options that the command does not have.
  EXPECT_EQ(text(CommandId::compare, "input"), "Not with --data.");
  EXPECT_EQ(text(CommandId::run, "input"), "");
  // Each condition names an option of a command that has the row, and its
  // words.
  forEach([](const Command &command, const Option &option) {
    AllowedWith allowed = allowedWith(option, command.id);
    std::vector<Condition> all = allowed.excluded;
    for (const auto &conditions : allowed.alternatives)
      all.insert(all.end(), conditions.begin(), conditions.end());
    for (const Condition &condition : all) {
      const Option *other = find(command.id, condition.name);
      ASSERT_NE(other, nullptr) << condition.name;
      std::vector<std::string> words = wordsOf(*other);
      for (const std::string &value : condition.values)
        EXPECT_NE(std::find(words.begin(), words.end(), value), words.end())
            << value;
    }
  });
}

TEST(OptionTable, Forms) {
  EXPECT_EQ(spelledForm(*find(CommandId::compile, "output")),
            "-o, --output FILE");
  EXPECT_EQ(spelledForm(*find(CommandId::compile, "quiet")), "-q, --quiet");
  EXPECT_EQ(spelledForm(*find(CommandId::compile, "winograd")),
            "--winograd=true|false");
  EXPECT_EQ(joinWords({"a"}, "or"), "a");
  EXPECT_EQ(joinWords({"a", "b", "c"}, "or"), "a, b or c");
}
