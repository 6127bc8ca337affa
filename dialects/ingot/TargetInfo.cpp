//===- TargetInfo.cpp - CPU levels and what they have ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace ingot;

static constexpr CpuLevel kLevels[] = {
#define INGOT_CPU_LEVEL(NAME, MASK) {NAME, MASK},
#include "runtime/include/ingot/abi/cpu_features.inc"
};

llvm::ArrayRef<CpuLevel> ingot::getLevels() { return kLevels; }

const CpuLevel *ingot::findLevel(llvm::StringRef name) {
  const CpuLevel *level = llvm::find_if(
      kLevels, [&](const CpuLevel &level) { return level.name == name; });
  return level == std::end(kLevels) ? nullptr : level;
}

std::string ingot::levelNames() {
  return llvm::join(
      llvm::map_range(kLevels, [](const CpuLevel &level) { return level.name; }),
      ", ");
}
