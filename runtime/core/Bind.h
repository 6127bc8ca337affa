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

/// Checks that the caller passes the model's numbers of inputs and outputs.
ingot_status checkCounts(const ingot_abi_artifact &artifact,
                         uint32_t numInputs, uint32_t numOutputs,
                         ingot_error *error);

/// Checks that `rank` is the tensor's rank. If the model fixes all sizes, null
/// dims with rank 0 are also allowed and mean these sizes.
ingot_status checkRank(const ingot_abi_tensor &tensor, const int64_t *dims,
                       uint32_t rank, const char *kind, ingot_error *error);

/// Checks the sizes of an input and copies them to `sizes`. Null means the
/// sizes that the model fixes.
ingot_status checkDims(const ingot_abi_tensor &tensor, const int64_t *dims,
                       int64_t *sizes, ingot_error *error);

/// The name of an input or output in messages, for example "input 'x'".
struct Label {
  Label(const char *kind, const ingot_abi_tensor &tensor);
  char text[160];
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_BIND_H
