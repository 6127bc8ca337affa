//===- Phases.h - what strides take a result apart into ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PHASES_H
#define INGOT_PASSES_SUPPORT_PHASES_H

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <cstdint>

namespace ingot::support {

/// As many kernels, mostly different ones, as a transposed convolution may
/// become: one for each phase of its strides, where the last dimension's are
/// not one.
inline constexpr int64_t kMaxPhases = 64;

/// Whether `strides` have more phases than that.
inline bool hasManyPhases(llvm::ArrayRef<int64_t> strides) {
  int64_t phases = 1;
  for (int64_t stride : strides)
    if ((phases *= std::min(stride, kMaxPhases + 1)) > kMaxPhases)
      return true;
  return false;
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_PHASES_H
