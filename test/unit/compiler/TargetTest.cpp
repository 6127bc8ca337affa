//===- TargetTest.cpp - CPU levels that code is generated for -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Target.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace ingot;

namespace {

std::vector<Target> parse(llvm::StringRef text, const Multiplied &multiplied) {
  std::string error;
  std::optional<Targets> targets = parseTargets(text, error);
  EXPECT_TRUE(targets) << error;
  return targets.value_or(Targets()).pick(multiplied);
}

std::vector<std::string> multi(const Multiplied &multiplied) {
  std::vector<std::string> names;
  for (const Target &target : parse("multi", multiplied))
    names.push_back(target.level);
  return names;
}

TEST(Target, ByteDots) {
  const llvm::StringSet<> without = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  for (const CpuLevel &level : getLevels())
    EXPECT_EQ(parse(level.name, {})[0].info().hasByteDots(),
              !without.contains(level.name))
        << level.name.str();
  std::vector<Target> emulated = parse("alderlake", {});
  std::string error;
  ASSERT_TRUE(emulate(emulated, "x86-64-v3", error)) << error;
  EXPECT_TRUE(emulated[0].info().hasByteDots());
  EXPECT_EQ(emulated[0].features, findLevel("x86-64-v3")->features);
}

// The levels are in the order of preference.
TEST(Target, LevelsOfMulti) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(multi({}), (Names{"x86-64-v3", "x86-64-v4"}));
  EXPECT_EQ(multi({/*bytes=*/true, /*bf16=*/false}),
            (Names{"x86-64-v3", "alderlake", "x86-64-v4", "cascadelake",
                   "sapphirerapids"}));
  EXPECT_EQ(multi({/*bytes=*/false, /*bf16=*/true}),
            (Names{"x86-64-v3", "x86-64-v4", "znver4", "sapphirerapids"}));
}

// The module's attribute lists the levels that a model may add, with the
// numbers of each.
TEST(Target, MayLevelsOfMulti) {
  std::string error;
  std::optional<Targets> targets = parseTargets("multi,l2=2M", error);
  ASSERT_TRUE(targets) << error;
  std::vector<std::string> names;
  for (const Target &target : targets->may) {
    names.push_back(target.level);
    EXPECT_EQ(target.numbers.l2, 2 << 20);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"alderlake", "cascadelake",
                                             "znver4", "sapphirerapids"}));
  EXPECT_TRUE(
      targets->any([](const TargetInfo &info) { return info.hasTiles(); }));
  EXPECT_TRUE(parseTargets("x86-64-v3,znver4", error)->may.empty());
}

// LLVM knows the feature, and it implies no feature of AVX-512.
TEST(Target, MachineOfAlderLake) {
  auto machine = parse("alderlake", {})[0].createTargetMachine();
  ASSERT_TRUE(machine);
  llvm::StringRef features = machine->getTargetFeatureString();
  EXPECT_TRUE(features.contains("+avxvnni")) << features.str();
  EXPECT_FALSE(features.contains("avx512")) << features.str();
}

} // namespace
