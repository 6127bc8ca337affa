//===- TargetInfo.h - description of a core ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of a core. A level of ingot/abi/cpu_features.inc defines its
// instructions and registers. TargetNumbers.inc defines its other numbers.
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

/// Names of the features that generated code may need, one for each bit.
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

/// Returns all levels. If a CPU has several levels, the last one is the best.
llvm::ArrayRef<CpuLevel> getLevels();

/// Returns the level called `name`, or null.
const CpuLevel *findLevel(llvm::StringRef name);

/// Returns the names of all levels, separated by commas.
std::string levelNames();

/// Numbers of a core that its level does not determine.
struct TargetNumbers {
#define INGOT_TARGET_NUMBER(NAME, USUAL, LEAST, MOST, MEANING)                 \
  int64_t NAME = USUAL;
#include "dialects/ingot/TargetNumbers.inc"

  /// Checks the numbers. Returns an error, or nullopt.
  std::optional<std::string> check() const;
  /// Returns the numbers that differ from the defaults, in the syntax of
  /// `parse`: `l2=2097152`.
  llvm::SmallVector<std::string> texts() const;
  /// Sets a number from its text in `--target`, for example `l2=2M` or
  /// `fma_ports=1`. Returns an error, or nullopt.
  std::optional<std::string> parse(llvm::StringRef text);

  bool operator==(const TargetNumbers &other) const;
};

llvm::hash_code hash_value(const TargetNumbers &numbers);

/// Returns the number called `name`, or null.
int64_t *findNumber(TargetNumbers &numbers, llvm::StringRef name);

/// Returns the names of all numbers, separated by commas.
std::string numberNames();

/// The properties of a core that code generation needs.
struct TargetInfo : TargetNumbers {
  TargetInfo(uint64_t features, const TargetNumbers &numbers);
  /// Returns the target of the module that is `op` or contains it. Tasks in a
  /// loop are smaller on CPUs without VNNI.
  static TargetInfo of(mlir::Operation *op);

  /// Number of f32 elements in a vector register.
  int64_t lanes;
  int64_t numRegisters;
  bool hasFMA;
  /// True if the core has vector dot products: of pairs of bf16, or of groups
  /// of four bytes. Vectors have `lanes` lanes.
  bool hasBF16, hasVNNI;
  /// True if products of bf16 are faster than multiply-adds of f32. This is so
  /// on AMD's cores. Intel's cores with f16 arithmetic multiply bf16 only at
  /// half the speed of f32.
  bool hasFastBF16;
  /// True if the core has f16 arithmetic, in vectors of 2 `lanes` elements.
  bool hasFP16;
  /// True if the core has products of AMX tiles.
  bool hasBF16Tiles, hasInt8Tiles;
  /// True if the core has a vector instruction that counts the set bits of
  /// 32-bit elements.
  bool hasBitCount;

  /// Returns true if one instruction multiplies and adds four bytes, for
  /// vectors or for tiles.
  bool hasByteDots() const { return hasVNNI || hasInt8Tiles; }
  /// Returns true if products of bf16 are faster than products of f32.
  bool multipliesBF16() const { return hasFastBF16 || hasBF16Tiles; }
  bool hasTiles() const { return hasBF16Tiles || hasInt8Tiles; }

  /// Returns how many independent sums are needed to keep all multiply-add
  /// units busy.
  int64_t sumsInFlight() const { return fma_ports * fma_latency; }
  /// Returns the number of 4-byte elements in a cache line.
  int64_t wordsOfLine() const { return line / 4; }
};

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_TARGETINFO_H
