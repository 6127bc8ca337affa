//===- Artifact.h - checks of what an artifact says about itself ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_ARTIFACT_H
#define INGOT_RUNTIME_CORE_ARTIFACT_H

#include "ingot/ingot.h"
#include "runtime/core/Mapping.h"

namespace ingot::rt {

constexpr uint32_t maxRank = 64;

/// Checks magic, version and every field that later code relies on, and that
/// all it points to lies in `mapping`, before it is looked at. `subject` names
/// the artifact in messages.
ingot_status checkArtifact(const ingot_abi_artifact *artifact,
                           const Mapping &mapping, const char *subject,
                           ingot_error *error);

/// Bytes of a dense tensor; false if that does not fit into 63 bits or a size
/// is negative.
bool tensorBytes(uint32_t dtype, const int64_t *dims, uint32_t rank,
                 uint64_t &bytes);

/// Layers that a profile tells apart; artifacts of older compilers have none.
uint32_t layerCount(const ingot_abi_artifact &artifact);

bool isDynamic(const ingot_abi_tensor &tensor);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_ARTIFACT_H
