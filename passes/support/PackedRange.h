//===- PackedRange.h - ranges of packed products ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PACKEDRANGE_H
#define INGOT_PASSES_SUPPORT_PACKEDRANGE_H

#include "llvm/ADT/ArrayRef.h"

#include <cmath>

namespace ingot::support {

/// The largest factor of a block that `nn.packed_matmul` rounds to int8: bytes
/// are elements times `127 / m`, where m is the range of the block. A smaller m
/// would make its scale, `m / 127`, denormal.
constexpr float kMaxBlockFactor = 0x1p126f;

/// The smallest and the largest scale of packed weights. Kernels multiply a
/// scale by 2^-24 and by sums of bytes, which are below 2^31.
constexpr double kMinPackedScale = 0x1p-96, kMaxPackedScale = 0x1p96;

/// Returns true if kernels can multiply by all scales. Smaller scales than
/// kMinPackedScale count as zero, so that the largest one must be well above.
inline bool fitPackedScales(llvm::ArrayRef<double> scales) {
  double largest = 0;
  for (double scale : scales) {
    if (!std::isfinite(scale))
      return false;
    largest = std::fmax(largest, std::fabs(scale));
  }
  return largest <= kMaxPackedScale &&
         (largest == 0 || largest >= 0x1p16 * kMinPackedScale);
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_PACKEDRANGE_H
