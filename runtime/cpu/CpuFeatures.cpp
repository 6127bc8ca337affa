//===- CpuFeatures.cpp - what this CPU can run ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/CpuFeatures.h"

#include "runtime/core/Error.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace ingot::rt;

namespace {
struct Named {
  const char *name;
  uint64_t bits;
};

constexpr Named features[] = {
#define INGOT_CPU_FEATURE(BIT, NAME, LLVM_NAME) {LLVM_NAME, uint64_t(1) << BIT},
#include "ingot/abi/cpu_features.inc"
};

constexpr Named levels[] = {
#define INGOT_CPU_LEVEL(NAME, MASK) {NAME, MASK},
#include "ingot/abi/cpu_features.inc"
};
} // namespace

#if defined(__x86_64__)
static uint64_t readXcr0() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

uint64_t ingot::rt::detectCpuFeatures() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return 0;
  uint64_t found = 0;
  auto add = [&](bool present, uint64_t feature) {
    if (present)
      found |= feature;
  };
  add(c & bit_SSE4_2, SSE42);
  // Use vector registers only if the operating system saves them.
  uint64_t xcr0 = c & bit_OSXSAVE ? readXcr0() : 0;
  bool savesYmm = (xcr0 & 0x6) == 0x6;
  bool savesZmm = (xcr0 & 0xe6) == 0xe6;
  bool savesTiles = (xcr0 & 0x60000) == 0x60000;
  add(savesYmm && (c & bit_AVX), AVX);
  add(savesYmm && (c & bit_FMA), FMA);
  add(savesYmm && (c & bit_F16C), F16C);
  unsigned a1 = 0, b1, c1, d1;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return found;
  if (a >= 1)
    __get_cpuid_count(7, 1, &a1, &b1, &c1, &d1);
  add(savesYmm && (b & (1u << 5)), AVX2);
  add(b & (1u << 8), BMI2);
  add(savesZmm && (b & (1u << 16)), AVX512F);
  add(savesZmm && (b & (1u << 30)), AVX512BW);
  add(savesZmm && (b & (1u << 28)), AVX512CD);
  add(savesZmm && (b & (1u << 17)), AVX512DQ);
  add(savesZmm && (b & (1u << 31)), AVX512VL);
  add(savesZmm && (c & (1u << 11)), AVX512VNNI);
  add(savesZmm && (c & (1u << 14)), AVX512VPOPCNTDQ);
  add(savesYmm && (a1 & (1u << 4)), AVXVNNI);
  add(savesZmm && (a1 & (1u << 5)), AVX512BF16);
  add(savesZmm && (d & (1u << 23)), AVX512FP16);
  add(savesTiles && (d & (1u << 24)), AMX_TILE);
  add(savesTiles && (d & (1u << 25)), AMX_INT8);
  add(savesTiles && (d & (1u << 22)), AMX_BF16);
  return found;
}

/// Requests the tile registers, which Linux grants per process.
static bool requestAmx() {
  constexpr long reqXcompPerm = 0x1023, xtileData = 18;
  return syscall(SYS_arch_prctl, reqXcompPerm, xtileData) == 0;
}
#else
uint64_t ingot::rt::detectCpuFeatures() { return 0; }
static bool requestAmx() { return false; }
#endif

bool ingot::rt::findCpuLevel(const char *name, uint64_t &bits) {
  for (const Named &level : levels)
    if (!strcmp(level.name, name)) {
      bits = level.bits;
      return true;
    }
  return false;
}

const char *ingot::rt::highestCpuLevel(uint64_t present) {
  const char *name = "x86-64";
  for (const Named &level : levels)
    if ((present & level.bits) == level.bits)
      name = level.name;
  return name;
}

void ingot::rt::appendName(char *list, size_t room, const char *name) {
  size_t used = strlen(list);
  snprintf(list + used, room - used, "%s%s", used ? ", " : "", name);
}

void ingot::rt::nameCpuFeatures(uint64_t wanted, char *list, size_t room) {
  for (const Named &feature : features)
    if (wanted & feature.bits) {
      appendName(list, room, feature.name);
      wanted &= ~feature.bits;
    }
  if (wanted)
    appendName(list, room, "features newer than this libingot");
}

ingot_status ingot::rt::capCpu(const char *cap, const char *source, Cpu &cpu,
                               ingot_error *error) {
  if (!cap || !*cap)
    return INGOT_OK;
  uint64_t allowed;
  if (!findCpuLevel(cap, allowed)) {
    char known[128] = "";
    for (const Named &level : levels)
      appendName(known, sizeof(known), level.name);
    return fail(error, INGOT_INVALID_ARGUMENT,
                "%s=%.64s names no CPU level; known are %s", source, cap,
                known);
  }
  // If there are two caps, messages name the cap that removes more features.
  if (!cpu.cap || (cpu.features & ~allowed)) {
    cpu.cap = cap;
    cpu.capSource = source;
  }
  cpu.features &= allowed;
  return INGOT_OK;
}

ingot_status ingot::rt::readCpu(Cpu &cpu, ingot_error *error) {
  cpu = {detectCpuFeatures(), nullptr, nullptr, requestAmx};
  return capCpu(getenv("INGOT_MAX_ISA"), "INGOT_MAX_ISA", cpu, error);
}

const char *ingot_cpu_level(void) {
  uint64_t present = detectCpuFeatures(), allowed;
  const char *cap = getenv("INGOT_MAX_ISA");
  if (cap && findCpuLevel(cap, allowed))
    present &= allowed;
  return highestCpuLevel(present);
}
