//===- OptimizeFor.cpp - artifact size against speed ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/OptimizeFor.h"

#include "llvm/ADT/STLExtras.h"

using namespace ingot;

const SizeRule &ingot::getSizeRule(OptimizeFor goal) {
  return *llvm::find_if(
      kSizeRules, [&](const SizeRule &rule) { return rule.goal == goal; });
}

double ingot::requiredGain(OptimizeFor goal, double addedBytes) {
  const SizeRule &rule = getSizeRule(goal);
  double paid = addedBytes - rule.freeBytes;
  return paid > 0 ? rule.leastGain * paid : 0;
}

std::optional<OptimizeFor> ingot::findGoal(llvm::StringRef name) {
  for (const SizeRule &rule : kSizeRules)
    if (rule.name == name)
      return rule.goal;
  return std::nullopt;
}

llvm::cl::ValuesClass ingot::optimizeForValues() {
  auto value = [](const SizeRule &rule) {
    return llvm::cl::OptionEnumValue{rule.name, int(rule.goal),
                                     rule.description};
  };
  return {value(kSizeRules[0]), value(kSizeRules[1]), value(kSizeRules[2])};
}
