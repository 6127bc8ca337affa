//===- Target.cpp - levels that code is generated for ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Target.h"

#include "compiler/pipeline/Backends.h"

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
  // Starts from the next lower psABI level and adds the level's own features.
  // The name of a CPU would add features that the level does not guarantee.
  const char *cpu = hasAVX512()                      ? "x86-64-v4"
                    : has(features, CpuFeature::AVX2) ? "x86-64-v3"
                                                      : "x86-64-v2";
  std::string added;
  for (const Feature &feature : kFeatures)
    if (has(features, feature.feature))
      added += std::string(added.empty() ? "+" : ",+") + feature.llvmName;
  llvm::TargetOptions options;
  // Fuses only products that kernels and sums mark as unrounded. Two ONNX nodes
  // must round twice. If only one product of x x - y y were rounded, the result
  // for x = y would not be 0.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // Gives the linker each function and constant apart, so that it keeps equal
  // ones of all levels once.
  options.FunctionSections = true;
  options.DataSections = true;
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
  std::string text = name();
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

namespace {
/// A level of `multi`, and the element types that it multiplies faster.
struct MultiLevel {
  llvm::StringLiteral name;
  Multiplied gains;

  bool isSure() const { return !gains.bytes && !gains.bf16; }
};
} // namespace

/// Levels of `multi`. Generated kernels depend on the vector registers: 16 of
/// 256 bits, or 32 of 512 bits. Levels with equal registers differ only in
/// products of bytes and of bf16.
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

/// Returns the names of devices other than the CPU, each behind a comma.
static std::string deviceNames() {
  std::string names;
  for (const Backend *backend : getBackends())
    if (!backend->device().levels.empty())
      names += ", " + backend->device().name.str();
  return names;
}

/// Returns the levels that `names` refer to.
static std::optional<Targets> findTargets(llvm::ArrayRef<llvm::StringRef> names,
                                          std::string &error) {
  if (names == llvm::ArrayRef<llvm::StringRef>("native")) {
    std::optional<Target> native = nativeTarget();
    if (native) {
      Targets targets;
      targets.sure.push_back(*native);
      return targets;
    }
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
                : "unknown target '" + name.str() + "': use native, multi" +
                      deviceNames() + " or";
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

namespace {
/// The levels of a device other than the CPU that `--target` names.
struct NamedLevels {
  const Device *device = nullptr;
  std::vector<unsigned> numbers;
};
} // namespace

static std::string nameOf(const Device &device, unsigned level) {
  return device.levelPrefix.str() + std::to_string(level);
}

/// Returns the device with a level called `name`: `DEVICE`, `DEVICE:LEVEL` or
/// `LEVEL`. `level` is the part that names the level. Returns null if CPUs may
/// have a level of that name.
static const Device *findDevice(llvm::StringRef name, llvm::StringRef &level) {
  for (const Backend *backend : getBackends()) {
    const Device &device = backend->device();
    if (device.levels.empty())
      continue;
    level = name;
    if (level.consume_front(device.name) &&
        (level.empty() || level.consume_front(":")))
      return &device;
    if (name.starts_with(device.levelPrefix)) {
      level = name;
      return &device;
    }
  }
  return nullptr;
}

/// Returns true if `name` stands for levels of a device other than the CPU,
/// which it adds to `named`. On failure `error` says what is wrong.
static bool readDevice(llvm::StringRef name, NamedLevels &named,
                       std::string &error) {
  llvm::StringRef level;
  const Device *device = findDevice(name, level);
  if (!device)
    return false;
  if (named.device && *named.device != *device) {
    error = "one artifact has code for CPUs and one other device: leave " +
            named.device->name.str() + " or " + device->name.str() +
            " out of --target";
    return true;
  }
  named.device = device;
  const size_t before = named.numbers.size();
  for (const DeviceLevel &known : device->levels)
    if (name == device->name ? known.isUsual
                             : level == nameOf(*device, known.number))
      named.numbers.push_back(known.number);
  if (named.numbers.size() == before) {
    error = "unknown target '" + name.str() + "': use " + device->name.str() +
            " or";
    for (const DeviceLevel &known : device->levels)
      error += " " + nameOf(*device, known.number);
  }
  return true;
}

std::optional<Targets> ingot::parseTargets(llvm::StringRef text,
                                           std::string &error) {
  llvm::SmallVector<llvm::StringRef> parts, names;
  text.split(parts, ',');
  TargetNumbers numbers;
  NamedLevels named;
  llvm::StringSet<> given;
  for (llvm::StringRef part : parts) {
    auto [key, value] = part.split('=');
    if (key.size() == part.size()) {
      if (!readDevice(part, named, error))
        names.push_back(part);
      else if (!error.empty())
        return std::nullopt;
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
  llvm::sort(named.numbers);
  if (auto twice =
          std::adjacent_find(named.numbers.begin(), named.numbers.end());
      twice != named.numbers.end()) {
    error = "target " + nameOf(*named.device, *twice) + " is listed twice";
    return std::nullopt;
  }
  const bool isWithoutCpu = named.device && names.empty();
  if (isWithoutCpu && !given.empty()) {
    error = given.begin()->getKey().str() +
            " of the target is a number of CPUs: name a level of CPUs, too, "
            "e.g. native," +
            named.device->name.str();
    return std::nullopt;
  }
  if (names.empty())
    names.push_back(isWithoutCpu ? getLevels().front().name : "native");
  std::optional<Targets> targets = findTargets(names, error);
  if (!targets)
    return std::nullopt;
  for (Target &target : llvm::concat<Target>(targets->sure, targets->may))
    target.numbers = numbers;
  if (named.device) {
    targets->deviceLevels = std::move(named.numbers);
    targets->host = targets->sure.front();
    targets->host->device = named.device;
  }
  if (isWithoutCpu)
    targets->sure.clear();
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
