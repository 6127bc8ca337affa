//===- Inferred.h - what a run makes and takes ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INSPECT_INFERRED_H
#define INGOT_CLIENT_INSPECT_INFERRED_H

#include "client/Json.h"
#include "client/Text.h"
#include "client/inputs/Inputs.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// The sizes of a run's tensors, and its memory. If they depend on data, a size
/// is -1 and the memory is UINT64_MAX.
struct Inferred {
  std::vector<std::vector<int64_t>> inputs, outputs;
  uint64_t arenaBytes = 0;
};

/// Infers the sizes of a run with --shape and --dim. Returns an error message,
/// or "".
std::string inferSizes(const ingot_model *model, const InputSpecs &specs,
                       Inferred &inferred);

/// Appends the result as text.
void addInferred(TextBuilder &text, const ingot_model *model,
                 const Inferred &inferred);
Json toJson(const Inferred &inferred);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INSPECT_INFERRED_H
