//===- Variants.h - selection of a variant ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_VARIANTS_H
#define INGOT_RUNTIME_CORE_VARIANTS_H

#include "runtime/cpu/CpuFeatures.h"

namespace ingot::rt {

/// Finds the variant that launches kernels of NVIDIA GPUs and can run on `cpu`.
/// Returns false if there is none.
bool findGpuVariant(const ingot_abi_artifact &artifact, const Cpu &cpu,
                    uint32_t &index);

/// Reports that findGpuVariant has found no variant.
ingot_status refuseGpu(const ingot_abi_artifact &artifact, const char *subject,
                       ingot_error *error);

/// Selects the variant for CPUs with the highest priority that can run on
/// `cpu`. Requests AMX from the system if the variant needs it. `subject` names
/// the artifact in messages.
ingot_status chooseVariant(const ingot_abi_artifact &artifact, const Cpu &cpu,
                           const char *subject, uint32_t &index,
                           ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_VARIANTS_H
