//===- Target.cpp - CPU levels that code is generated for -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace ingot;

namespace {
struct Feature {
  CpuFeature feature;
  const char *llvmName;
};
} // namespace

static constexpr Feature kFeatures[] = {
#define INGOT_CPU_FEATURE(BIT, NAME, LLVM_NAME) {CpuFeature::NAME, LLVM_NAME},
#include "runtime/include/ingot/abi/cpu_features.inc"
};

static bool has(uint64_t features, CpuFeature feature) {
  return (features & bitOf(feature)) != 0;
}

bool Target::hasAVX512() const { return has(features, CpuFeature::AVX512F); }

TargetInfo Target::info() const {
  return TargetInfo(findLevel(level)->features, numbers);
}

std::unique_ptr<llvm::TargetMachine> Target::createTargetMachine() const {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  // Starts from the psABI level below and adds the level's own features. A
  // named CPU would add features that the level does not promise.
  const char *cpu = hasAVX512()                      ? "x86-64-v4"
                    : has(features, CpuFeature::AVX2) ? "x86-64-v3"
                                                      : "x86-64-v2";
  std::string added;
  for (const Feature &feature : kFeatures)
    if (has(features, feature.feature))
      added += std::string(added.empty() ? "+" : ",+") + feature.llvmName;
  llvm::TargetOptions options;
  // Fuses only products that kernels and sums mark as unrounded. Two ONNX nodes
  // must round twice. Otherwise x x - y y would round only one product, and
  // would not be 0 for x = y.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, added, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
}

static uint64_t hostFeatures() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  uint64_t features = 0;
  for (const Feature &feature : kFeatures)
    if (host.lookup(feature.llvmName))
      features |= bitOf(feature.feature);
  return features;
}

std::string Target::identifier() const {
  std::string text = level;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

namespace {
/// A level of `multi`, and the elements that it is for.
struct MultiLevel {
  llvm::StringLiteral name;
  Multiplied gains;

  bool isSure() const { return !gains.bytes && !gains.bf16; }
};
} // namespace

/// Levels of `multi`, that kernels are generated differently for: 256 bits with
/// 16 registers, and 512 bits with 32. Others of as many bits get the same
/// code, but for products of bytes and of bf16.
static constexpr MultiLevel kMulti[] = {
    {"x86-64-v3", {}},
    {"alderlake", {/*bytes=*/true, /*bf16=*/false}},
    {"x86-64-v4", {}},
    {"cascadelake", {/*bytes=*/true, /*bf16=*/false}},
    {"znver4", {/*bytes=*/false, /*bf16=*/true}},
    {"sapphirerapids", {/*bytes=*/true, /*bf16=*/true}},
};

static std::optional<Target> nativeTarget() {
  uint64_t host = hostFeatures();
  std::optional<Target> best;
  for (const CpuLevel &level : getLevels())
    if ((level.features & ~host) == 0)
      best = Target{level.name.str(), level.features};
  return best;
}

/// The levels that `names` stand for.
static std::optional<Targets> findTargets(llvm::ArrayRef<llvm::StringRef> names,
                                          std::string &error) {
  if (names == llvm::ArrayRef<llvm::StringRef>("native")) {
    std::optional<Target> native = nativeTarget();
    if (native)
      return Targets{{*native}, {}};
    error = "this machine is below the lowest CPU level, " +
            getLevels().front().name.str();
    return std::nullopt;
  }
  Targets targets;
  if (names == llvm::ArrayRef<llvm::StringRef>("multi")) {
    for (const MultiLevel &level : kMulti)
      (level.isSure() ? targets.sure : targets.may)
          .push_back({level.name.str(), findLevel(level.name)->features});
    return targets;
  }
  for (llvm::StringRef name : names) {
    if (findLevel(name))
      continue;
    error = name == "native" || name == "multi"
                ? "target '" + name.str() + "' stands alone: list levels"
                : "unknown target '" + name.str() + "': use native, multi or";
    error += " " + levelNames();
    return std::nullopt;
  }
  for (const CpuLevel &level : getLevels()) {
    auto count = llvm::count(names, level.name);
    if (count > 1) {
      error = "target " + level.name.str() + " is listed twice";
      return std::nullopt;
    }
    if (count == 1)
      targets.sure.push_back({level.name.str(), level.features});
  }
  return targets;
}

std::vector<Target> Targets::pick(const Multiplied &multiplied) const {
  std::vector<Target> picked(sure);
  for (const Target &target : may) {
    const MultiLevel *level =
        llvm::find_if(kMulti, [&](const MultiLevel &multi) {
          return multi.name == target.level;
        });
    if ((level->gains.bytes && multiplied.bytes) ||
        (level->gains.bf16 && multiplied.bf16))
      picked.push_back(target);
  }
  llvm::sort(picked, [](const Target &a, const Target &b) {
    return findLevel(a.level) < findLevel(b.level);
  });
  return picked;
}

bool Targets::any(llvm::function_ref<bool(const TargetInfo &)> test) const {
  return llvm::any_of(
      llvm::concat<const Target>(sure, may),
      [&](const Target &target) { return test(target.info()); });
}

std::optional<Targets> ingot::parseTargets(llvm::StringRef text,
                                           std::string &error) {
  llvm::SmallVector<llvm::StringRef> parts, names;
  text.split(parts, ',');
  TargetNumbers numbers;
  llvm::StringSet<> given;
  for (llvm::StringRef part : parts) {
    auto [key, value] = part.split('=');
    if (key.size() == part.size()) {
      names.push_back(part);
      continue;
    }
    if (!given.insert(key).second) {
      error = key.str() + " of the target is given twice";
      return std::nullopt;
    }
    if (std::optional<std::string> wrong = numbers.parse(part)) {
      error = *wrong;
      return std::nullopt;
    }
  }
  if (names.empty())
    names.push_back("native");
  std::optional<Targets> targets = findTargets(names, error);
  if (targets)
    for (Target &target : llvm::concat<Target>(targets->sure, targets->may))
      target.numbers = numbers;
  return targets;
}

bool ingot::emulate(std::vector<Target> &targets, llvm::StringRef on,
                    std::string &error) {
  const CpuLevel *level = findLevel(on);
  if (!level) {
    error = "unknown CPU level '" + on.str() + "' to emulate on";
    return false;
  }
  if (targets.size() != 1) {
    error = "code for one CPU level can be emulated, not for several";
    return false;
  }
  Target &target = targets.front();
  if (level->features & ~target.features) {
    error = "code for " + target.level + " cannot be emulated on " + on.str() +
            ", which is above it";
    return false;
  }
  target.features = level->features;
  return true;
}
