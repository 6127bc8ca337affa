//===- Target.cpp - CPU levels that code is generated for -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace ingot;

namespace {
struct Feature {
  unsigned bit;
  const char *llvmName;
};
struct Level {
  const char *name;
  uint64_t features;
};
} // namespace

static constexpr Feature kFeatures[] = {
#define INGOT_CPU_FEATURE(BIT, NAME, LLVM_NAME) {BIT, LLVM_NAME},
#include "runtime/include/ingot/abi/cpu_features.inc"
};

static constexpr Level kLevels[] = {
#define INGOT_CPU_LEVEL(NAME, MASK) {NAME, MASK},
#include "runtime/include/ingot/abi/cpu_features.inc"
};

static constexpr unsigned kAVX512F = 6;

bool Target::hasAVX512() const { return features >> kAVX512F & 1; }

std::unique_ptr<llvm::TargetMachine> Target::createTargetMachine() const {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  // A named CPU would bring features that the level does not promise, so start
  // from the psABI level below and add the level's own.
  const char *cpu = hasAVX512()           ? "x86-64-v4"
                    : features >> 2 & 1u  ? "x86-64-v3"
                                          : "x86-64-v2";
  std::string added;
  for (const Feature &feature : kFeatures)
    if (features >> feature.bit & 1)
      added += std::string(added.empty() ? "+" : ",+") + feature.llvmName;
  llvm::TargetOptions options;
  // Kernels and sums say where a product is not rounded before it is added.
  // What the model writes as two nodes is rounded twice: of x x - y y one product
  // would be exact and the other not, which is not 0 where x is y.
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
      features |= uint64_t(1) << feature.bit;
  return features;
}

std::string Target::identifier() const {
  std::string text = level;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

/// What `multi` stands for: levels that kernels are generated differently for,
/// 256 bits with 16 registers and 512 bits with 32. Levels above get the same
/// code as x86-64-v4.
static constexpr llvm::StringLiteral kMulti[] = {"x86-64-v3", "x86-64-v4"};

static std::optional<Target> nativeTarget() {
  uint64_t host = hostFeatures();
  std::optional<Target> best;
  for (const Level &level : kLevels)
    if ((level.features & ~host) == 0)
      best = Target{level.name, level.features};
  return best;
}

std::optional<std::vector<Target>> ingot::parseTargets(llvm::StringRef text,
                                                       std::string &error) {
  if (text == "native") {
    std::optional<Target> native = nativeTarget();
    if (native)
      return std::vector<Target>{*native};
    error = "this machine is below the lowest CPU level, " +
            std::string(kLevels[0].name);
    return std::nullopt;
  }
  llvm::SmallVector<llvm::StringRef> names;
  if (text == "multi")
    names.append(std::begin(kMulti), std::end(kMulti));
  else
    text.split(names, ',');
  for (llvm::StringRef name : names) {
    bool isAlias = name == "native" || name == "multi";
    if (!isAlias && llvm::any_of(kLevels, [&](const Level &level) {
          return name == level.name;
        }))
      continue;
    error = isAlias ? "target '" + name.str() + "' stands alone: list levels"
                    : "unknown target '" + name.str() + "': use native, multi or";
    for (const Level &level : kLevels)
      error += std::string(&level == kLevels ? " " : ", ") + level.name;
    return std::nullopt;
  }
  std::vector<Target> targets;
  for (const Level &level : kLevels) {
    auto count = llvm::count(names, llvm::StringRef(level.name));
    if (count > 1) {
      error = "target " + std::string(level.name) + " is listed twice";
      return std::nullopt;
    }
    if (count == 1)
      targets.push_back({level.name, level.features});
  }
  return targets;
}

bool ingot::emulate(std::vector<Target> &targets, llvm::StringRef on,
                    std::string &error) {
  const Level *level = llvm::find_if(
      kLevels, [&](const Level &level) { return on == level.name; });
  if (level == std::end(kLevels)) {
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
