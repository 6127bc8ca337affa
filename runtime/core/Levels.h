//===- Levels.h - CPU levels of an artifact ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_LEVELS_H
#define INGOT_RUNTIME_CORE_LEVELS_H

#include "runtime/cpu/CpuFeatures.h"

namespace ingot::rt {

/// CPU levels that it holds code for, at least one; artifacts of older
/// compilers have one.
uint32_t levelCount(const ingot_abi_artifact &artifact);

/// The code of one level, lowest first, of an artifact that was checked.
ingot_abi_variant levelAt(const ingot_abi_artifact &artifact, uint32_t index);

/// Finds the highest level that may run on `cpu`, and asks for AMX where that
/// needs it. `subject` names the artifact in messages.
ingot_status chooseLevel(const ingot_abi_artifact &artifact, const Cpu &cpu,
                         const char *subject, uint32_t &index,
                         ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_LEVELS_H
