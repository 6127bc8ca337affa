//===- TargetInfo.cpp - description of a core -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/TargetInfo.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace ingot;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

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
      llvm::map_range(kLevels,
                      [](const CpuLevel &level) { return level.name; }),
      ", ");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
struct Number {
  llvm::StringLiteral name;
  int64_t TargetNumbers::*member;
  int64_t usual, least, most;
};
} // namespace

static constexpr Number kNumbers[] = {
#define INGOT_TARGET_NUMBER(NAME, USUAL, LEAST, MOST, MEANING)                 \
  {#NAME, &TargetNumbers::NAME, USUAL, LEAST, MOST},
#include "dialects/ingot/TargetNumbers.inc"
};

std::string ingot::numberNames() {
  return llvm::join(
      llvm::map_range(kNumbers,
                      [](const Number &number) { return number.name; }),
      ", ");
}

int64_t *ingot::findNumber(TargetNumbers &numbers, llvm::StringRef name) {
  for (const Number &number : kNumbers)
    if (number.name == name)
      return &(numbers.*number.member);
  return nullptr;
}

std::optional<std::string> TargetNumbers::check() const {
  for (const Number &number : kNumbers) {
    int64_t value = this->*number.member;
    if (value < number.least || value > number.most)
      return ("expects " + number.name + " of " + llvm::Twine(number.least) +
              " to " + llvm::Twine(number.most) + ", but got " +
              llvm::Twine(value))
          .str();
  }
  if (!llvm::isPowerOf2_64(line))
    return ("expects line to be a power of 2, but got " + llvm::Twine(line))
        .str();
  return std::nullopt;
}

llvm::SmallVector<std::string> TargetNumbers::texts() const {
  llvm::SmallVector<std::string> texts;
  for (const Number &number : kNumbers)
    if (int64_t value = this->*number.member; value != number.usual)
      texts.push_back((number.name + "=" + llvm::Twine(value)).str());
  return texts;
}

/// Parses a number, which may end in K or M for 2^10 or 2^20: "48K", "1M".
static std::optional<int64_t> parseNumber(llvm::StringRef text) {
  unsigned shift = text.consume_back("K")   ? 10
                   : text.consume_back("M") ? 20
                                            : 0;
  int64_t number = 0;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || text.size() > 12 ||
      text.getAsInteger(10, number))
    return std::nullopt;
  return number << shift;
}

std::optional<std::string> TargetNumbers::parse(llvm::StringRef text) {
  llvm::StringRef name, value;
  std::tie(name, value) = text.split('=');
  const Number *number = llvm::find_if(
      kNumbers, [&](const Number &number) { return number.name == name; });
  if (number == std::end(kNumbers))
    return ("unknown property '" + name + "' of a target: use one of " +
            numberNames())
        .str();
  std::optional<int64_t> parsed = parseNumber(value);
  TargetNumbers changed = *this;
  changed.*number->member = parsed.value_or(-1);
  if (!parsed || *parsed < number->least || *parsed > number->most)
    return ("'" + text + "' of the target: use a number from " +
            llvm::Twine(number->least) + " to " + llvm::Twine(number->most) +
            ", or with K or M behind it")
        .str();
  if (std::optional<std::string> wrong = changed.check())
    return "'" + text.str() + "' of the target: " + *wrong;
  *this = changed;
  return std::nullopt;
}

bool TargetNumbers::operator==(const TargetNumbers &other) const {
  return llvm::all_of(kNumbers, [&](const Number &number) {
    return this->*number.member == other.*number.member;
  });
}

llvm::hash_code ingot::hash_value(const TargetNumbers &numbers) {
  llvm::hash_code hash(0);
  for (const Number &number : kNumbers)
    hash = llvm::hash_combine(hash, numbers.*number.member);
  return hash;
}

//===----------------------------------------------------------------------===//
// Cores
//===----------------------------------------------------------------------===//

TargetInfo::TargetInfo(uint64_t features, const TargetNumbers &numbers)
    : TargetNumbers(numbers) {
  auto has = [&](CpuFeature feature) {
    return (features & bitOf(feature)) != 0;
  };
  lanes = has(CpuFeature::AVX512F) ? 16 : has(CpuFeature::AVX) ? 8 : 4;
  numRegisters = has(CpuFeature::AVX512F) ? 32 : 16;
  hasFMA = has(CpuFeature::FMA);
  hasBF16 = has(CpuFeature::AVX512BF16);
  hasFP16 = has(CpuFeature::AVX512FP16);
  hasFastBF16 = hasBF16 && !hasFP16;
  hasVNNI = has(CpuFeature::AVX512VNNI) || has(CpuFeature::AVXVNNI);
  hasBitCount = has(CpuFeature::AVX512VPOPCNTDQ);
  bool hasTiles = has(CpuFeature::AMX_TILE);
  hasBF16Tiles = hasTiles && has(CpuFeature::AMX_BF16);
  hasInt8Tiles = hasTiles && has(CpuFeature::AMX_INT8);
}

/// The number of tasks in a loop for the arithmetic of one task elsewhere.
/// Kernels of a loop follow each other at once, so that threads still look for
/// tasks. The data of all steps stay in a cache.
static constexpr int64_t kTasksInLoop = 4;

TargetInfo TargetInfo::of(mlir::Operation *op) {
  TargetInfo info = TargetAttr::of(op).getInfo();
  // VNNI does the same arithmetic in a quarter of the time.
  if (!info.hasVNNI && op->getParentOfType<mlir::LoopLikeOpInterface>())
    info.task_flops /= kTasksInLoop;
  return info;
}
