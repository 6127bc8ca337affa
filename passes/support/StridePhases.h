//===- StridePhases.h - phases of a transposed convolution ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_STRIDEPHASES_H
#define INGOT_PASSES_SUPPORT_STRIDEPHASES_H

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <cstdint>

namespace ingot::support {

/// Limit of kernels for a transposed convolution. Each phase of its strides
/// becomes a kernel, unless the phases of the last dimension share one. Most of
/// these kernels differ.
inline constexpr int64_t kMaxStridePhases = 64;

/// Returns true if `strides` have more than kMaxStridePhases phases.
inline bool hasManyStridePhases(llvm::ArrayRef<int64_t> strides) {
  int64_t phases = 1;
  for (int64_t stride : strides)
    if ((phases *= std::min(stride, kMaxStridePhases + 1)) > kMaxStridePhases)
      return true;
  return false;
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_STRIDEPHASES_H
