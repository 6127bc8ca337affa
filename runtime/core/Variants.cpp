//===- Variants.cpp - selection of a variant ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Variants.h"

#include "runtime/core/Artifact.h"
#include "runtime/core/Error.h"

#include <errno.h>
#include <stdio.h>

using namespace ingot::rt;

#if defined(__x86_64__)
static constexpr uint32_t thisArchitecture = INGOT_ABI_ARCHITECTURE_X86_64;
#elif defined(__aarch64__)
static constexpr uint32_t thisArchitecture = INGOT_ABI_ARCHITECTURE_AARCH64;
#else
#error "unknown machine"
#endif

static constexpr uint32_t knownFlags =
    INGOT_ABI_VARIANT_STREAMS | INGOT_ABI_VARIANT_STRIDES;

static constexpr uint32_t none = UINT32_MAX;

/// Returns true if the variant is for this kind of CPU. Does not check
/// features.
static bool isForThisCpu(const ingot_abi_variant &variant) {
  return variant.device == INGOT_ABI_DEVICE_CPU &&
         variant.architecture == thisArchitecture &&
         variant.arena_memory == INGOT_ABI_MEMORY_HOST &&
         !(variant.flags & ~knownFlags);
}

/// Returns the variant with the highest priority among those that need only
/// `features`.
static uint32_t bestWithin(const ingot_abi_artifact &artifact,
                           uint64_t features) {
  Rows<ingot_abi_variant> rows = variantsOf(artifact);
  uint32_t best = none;
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (isForThisCpu(rows[i]) && !(rows[i].features & ~features) &&
        (best == none || rows[i].priority > rows[best].priority))
      best = i;
  return best;
}

/// Reports that no variant can run. Names the missing features of the variant
/// that lacks the fewest.
static ingot_status refuse(const ingot_abi_artifact &artifact, const Cpu &cpu,
                           const char *subject, ingot_error *error) {
  char held[160] = "", lacking[160] = "";
  Rows<ingot_abi_variant> rows = variantsOf(artifact);
  uint32_t nearest = none;
  auto lack = [&](uint32_t i) { return rows[i].features & ~cpu.features; };
  for (uint32_t i = 0; i < rows.count(); ++i) {
    appendName(held, sizeof(held), rows[i].target);
    if (isForThisCpu(rows[i]) &&
        (nearest == none ||
         __builtin_popcountll(lack(i)) < __builtin_popcountll(lack(nearest))))
      nearest = i;
  }
  const char *level = highestCpuLevel(cpu.features);
  if (nearest == none)
    return fail(error, INGOT_UNSUPPORTED_DEVICE,
                "'%s' was compiled for %s, and holds no code for this CPU "
                "(%s); compile it with --target=%s",
                subject, held, level, level);
  nameCpuFeatures(lack(nearest), lacking, sizeof(lacking));
  const char *least = rows.count() > 1 ? "at least " : "";
  if (cpu.cap)
    return fail(error, INGOT_UNSUPPORTED_DEVICE,
                "'%s' was compiled for %s and needs %s%s, which %s=%s rules "
                "out; compile it with --target=%s",
                subject, held, least, lacking, cpu.capSource, cpu.cap, level);
  return fail(error, INGOT_UNSUPPORTED_DEVICE,
              "'%s' was compiled for %s and needs %s%s, which this CPU (%s) "
              "lacks; compile it with --target=%s",
              subject, held, least, lacking, level, level);
}

bool ingot::rt::findGpuVariant(const ingot_abi_artifact &artifact,
                               const Cpu &cpu, uint32_t &index) {
  Rows<ingot_abi_variant> rows = variantsOf(artifact);
  uint32_t best = none;
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (rows[i].device == INGOT_ABI_DEVICE_CUDA &&
        rows[i].architecture == thisArchitecture &&
        rows[i].arena_memory == INGOT_ABI_MEMORY_HOST &&
        !(rows[i].flags & ~knownFlags) && !(rows[i].features & ~cpu.features) &&
        (best == none || rows[i].priority > rows[best].priority))
      best = i;
  if (best == none)
    return false;
  index = best;
  return true;
}

ingot_status ingot::rt::refuseGpu(const ingot_abi_artifact &artifact,
                                  const char *subject, ingot_error *error) {
  Rows<ingot_abi_variant> rows = variantsOf(artifact);
  for (uint32_t i = 0; i < rows.count(); ++i)
    if (rows[i].device == INGOT_ABI_DEVICE_CUDA)
      return fail(error, INGOT_UNSUPPORTED_DEVICE,
                  "'%s' has code for GPUs (%s) that needs another CPU beside "
                  "the GPU",
                  subject, rows[i].target);
  return fail(error, INGOT_UNSUPPORTED_DEVICE,
              "'%s' has no code for GPUs; compile it with --target=cuda",
              subject);
}

ingot_status ingot::rt::chooseVariant(const ingot_abi_artifact &artifact,
                                      const Cpu &cpu, const char *subject,
                                      uint32_t &index, ingot_error *error) {
  uint32_t best = bestWithin(artifact, cpu.features);
  if (best == none)
    return refuse(artifact, cpu, subject, error);
  if (needsAmx(variantsOf(artifact)[best].features) && !cpu.requestAmx()) {
    int reason = errno;
    best = bestWithin(artifact, cpu.features & ~amxFeatures);
    if (best == none)
      return fail(error, INGOT_UNSUPPORTED_DEVICE,
                  "'%s' needs AMX, which the operating system does not grant "
                  "to this process (%s)",
                  subject, strerror(reason));
  }
  index = best;
  return INGOT_OK;
}
