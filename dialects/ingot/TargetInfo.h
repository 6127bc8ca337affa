//===- TargetInfo.h - CPU levels and what they have -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list in ingot/abi/cpu_features.inc, for the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_TARGETINFO_H
#define INGOT_DIALECTS_INGOT_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Features that generated code may need, by their bits.
enum class CpuFeature : unsigned {
#define INGOT_CPU_FEATURE(BIT, NAME, LLVM_NAME) NAME = BIT,
#include "runtime/include/ingot/abi/cpu_features.inc"
};

constexpr uint64_t bitOf(CpuFeature feature) {
  return uint64_t(1) << unsigned(feature);
}

struct CpuLevel {
  llvm::StringLiteral name;
  /// Bits of CpuFeature.
  uint64_t features;

  constexpr bool has(CpuFeature feature) const {
    return (features & bitOf(feature)) != 0;
  }
};

/// All levels, lowest first.
llvm::ArrayRef<CpuLevel> getLevels();

/// The level called `name`, or null.
const CpuLevel *findLevel(llvm::StringRef name);

/// The names of all levels with commas between them.
std::string levelNames();

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_TARGETINFO_H
