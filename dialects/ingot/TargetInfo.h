//===- TargetInfo.h - what is known of a core -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one description of a core: the levels of ingot/abi/cpu_features.inc,
// which stand for instructions and registers, and the numbers of
// TargetNumbers.inc.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_TARGETINFO_H
#define INGOT_DIALECTS_INGOT_TARGETINFO_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

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

/// All levels; of two that a CPU has, the later one is the better.
llvm::ArrayRef<CpuLevel> getLevels();

/// The level called `name`, or null.
const CpuLevel *findLevel(llvm::StringRef name);

/// The names of all levels with commas between them.
std::string levelNames();

/// Of a core, what its level does not say.
struct TargetNumbers {
#define INGOT_TARGET_NUMBER(NAME, USUAL, LEAST, MOST, MEANING)                 \
  int64_t NAME = USUAL;
#include "dialects/ingot/TargetNumbers.inc"

  /// What is wrong with them, or nothing.
  std::optional<std::string> check() const;
  /// Those that are not as usual, as parse reads them: `l2=2097152`.
  llvm::SmallVector<std::string> texts() const;
  /// Sets a number as `--target` has it: `l2=2M`, `fma_ports=1`. What is wrong
  /// with it, or nothing.
  std::optional<std::string> parse(llvm::StringRef text);

  bool operator==(const TargetNumbers &other) const;
};

llvm::hash_code hash_value(const TargetNumbers &numbers);

/// The number called `name`, or null.
int64_t *findNumber(TargetNumbers &numbers, llvm::StringRef name);

/// The names of all numbers with commas between them.
std::string numberNames();

/// What code generation needs to know of a core.
struct TargetInfo : TargetNumbers {
  TargetInfo(uint64_t features, const TargetNumbers &numbers);
  /// That of the module that `op` is or is in.
  static TargetInfo of(mlir::Operation *op);

  /// f32 elements of a vector register.
  int64_t lanes;
  int64_t numRegisters;
  bool hasFMA;
  /// Dot products of pairs of bf16, and of fours of bytes; of vectors of
  /// `lanes`.
  bool hasBF16, hasVNNI;
  /// Whether those of bf16 are faster than multiply-adds of f32: twice as fast
  /// on AMD's cores, and half as fast on Intel's, which have arithmetic on f16.
  bool hasFastBF16;
  /// Arithmetic on f16, of vectors of twice as many.
  bool hasFP16;
  /// Products of AMX tiles.
  bool hasBF16Tiles, hasInt8Tiles;
  /// Counts of the bits of words in vectors.
  bool hasBitCount;

  /// True if one instruction multiplies and adds up four bytes, in vectors or
  /// in tiles.
  bool hasByteDots() const { return hasVNNI || hasInt8Tiles; }
  /// True if products of bf16 are faster than those of f32.
  bool multipliesBF16() const { return hasFastBF16 || hasBF16Tiles; }
  bool hasTiles() const { return hasBF16Tiles || hasInt8Tiles; }

  /// Sums that have to be independent of each other, so that none waits.
  int64_t sumsInFlight() const { return fma_ports * fma_latency; }
  /// Four bytes each.
  int64_t wordsOfLine() const { return line / 4; }
};

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_TARGETINFO_H
