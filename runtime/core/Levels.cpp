//===- Levels.cpp - choosing among the CPU levels of an artifact ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Levels.h"

#include "runtime/core/Error.h"

#include <errno.h>
#include <stdio.h>

using namespace ingot::rt;

uint32_t ingot::rt::levelCount(const ingot_abi_artifact &artifact) {
  return artifact.struct_size <
                     offsetof(ingot_abi_artifact, num_size_rules_proved) ||
                 !artifact.num_variants
             ? 1
             : artifact.num_variants;
}

ingot_abi_variant ingot::rt::levelAt(const ingot_abi_artifact &artifact,
                                     uint32_t index) {
  // The fields of the artifact itself are those of the lowest level.
  if (!index)
    return {artifact.target, artifact.cpu_features, artifact.code_bytes,
            artifact.load,   artifact.unload,       artifact.run};
  // A newer compiler's rows may be longer.
  auto *rows = reinterpret_cast<const char *>(artifact.variants);
  ingot_abi_variant level;
  memcpy(&level, rows + size_t(index) * artifact.variant_bytes, sizeof(level));
  return level;
}

/// Why not even the lowest level may run.
static ingot_status refuse(const ingot_abi_artifact &artifact, const Cpu &cpu,
                           const char *subject, ingot_error *error) {
  char held[160] = "", lacking[160] = "";
  uint32_t count = levelCount(artifact);
  for (uint32_t i = 0; i < count; ++i)
    appendName(held, sizeof(held), levelAt(artifact, i).target);
  nameCpuFeatures(artifact.cpu_features & ~cpu.features, lacking,
                  sizeof(lacking));
  const char *least = count > 1 ? "at least " : "";
  const char *level = highestCpuLevel(cpu.features);
  if (cpu.cap)
    return fail(error, INGOT_UNSUPPORTED_CPU,
                "'%s' was compiled for %s and needs %s%s, which "
                "INGOT_MAX_ISA=%s rules out; compile it with --target=%s",
                subject, held, least, lacking, cpu.cap, level);
  return fail(error, INGOT_UNSUPPORTED_CPU,
              "'%s' was compiled for %s and needs %s%s, which this CPU (%s) "
              "lacks; compile it with --target=%s",
              subject, held, least, lacking, level, level);
}

ingot_status ingot::rt::chooseLevel(const ingot_abi_artifact &artifact,
                                    const Cpu &cpu, const char *subject,
                                    uint32_t &index, ingot_error *error) {
  bool amxRefused = false;
  for (uint32_t i = levelCount(artifact); i-- > 0;) {
    uint64_t needed = levelAt(artifact, i).cpu_features;
    if (needed & ~cpu.features)
      continue;
    if (needsAmx(needed) && !cpu.requestAmx()) {
      amxRefused = true;
      continue;
    }
    index = i;
    return INGOT_OK;
  }
  if (amxRefused)
    return fail(error, INGOT_UNSUPPORTED_CPU,
                "'%s' needs AMX, which the operating system does not grant to "
                "this process (%s)",
                subject, strerror(errno));
  return refuse(artifact, cpu, subject, error);
}
