//===- Bind.h - checks of what a caller gives -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_BIND_H
#define INGOT_RUNTIME_CORE_BIND_H

#include "ingot/ingot.h"

namespace ingot::rt {

/// Checks that the caller passes as many inputs and outputs as the model has.
ingot_status checkCounts(const ingot_abi_artifact &artifact,
                         uint32_t numInputs, uint32_t numOutputs,
                         ingot_error *error);

/// Checks that `rank` is the tensor's rank. Null dims with rank 0 mean the
/// model's sizes, if the model fixes all of them.
ingot_status checkRank(const ingot_abi_tensor &tensor, const int64_t *dims,
                       uint32_t rank, const char *kind, ingot_error *error);

/// Checks the sizes of an input, as many as its rank, and copies them to
/// `sizes`. Null means the model's sizes.
ingot_status checkDims(const ingot_abi_tensor &tensor, const int64_t *dims,
                       int64_t *sizes, ingot_error *error);

/// The text for an input or output in messages, for example "input 'x'".
struct Label {
  Label(const char *kind, const ingot_abi_tensor &tensor);
  char text[160];
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_BIND_H
