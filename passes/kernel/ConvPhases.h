//===- ConvPhases.h - phases of a transposed convolution --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In one dimension, with stride s, dilation d and begin pad p, a transposed
// convolution sums into element o of the result all x[i] w[k] with
// i s + k d = o + p. For o = m s + r, those of phase r, that is x[m + t] w[k]
// over the taps k for which t = (r + p - k d) / s is whole. Such t follow each
// other in equal steps as k goes down: a convolution with padding -t of the
// lowest, or if that is negative, of x without its first elements.
//
// Where the size of x is open, that of the result is s times it and a constant
// more, so that all other sizes are that of x and constants more, too.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_CONVPHASES_H
#define INGOT_PASSES_KERNEL_CONVPHASES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::kernel {

/// A size: a constant, or so much more than the size of src if that is open.
struct Extent {
  bool isOpen;
  int64_t constant;

  bool operator==(const Extent &other) const {
    return isOpen == other.isOpen && constant == other.constant;
  }
  int64_t size() const {
    return isOpen ? mlir::ShapedType::kDynamic : constant;
  }
};

/// The window of a phase in one dimension.
struct Phase {
  /// Result elements `first + i stride`, i < count.
  int64_t first;
  Extent count;
  /// What of src is read.
  int64_t srcFirst;
  Extent srcCount;
  /// For each tap of the convolution that of the transposed one; none where the
  /// window lies in the padding.
  llvm::SmallVector<int64_t> taps;
  int64_t numTaps, dilation, padLow, padHigh;

  bool readsAs(const Phase &other) const {
    return count == other.count && srcFirst == other.srcFirst &&
           srcCount == other.srcCount && numTaps == other.numTaps &&
           taps.size() == other.taps.size() && dilation == other.dilation &&
           padLow == other.padLow && padHigh == other.padHigh;
  }
};

/// One dimension of a transposed convolution. With an open src, `dstSize` is
/// the size of dst minus `stride` times the size of src.
struct PhasedWindow {
  int64_t srcSize, dstSize, kernel, stride, pad, dilation;
};
Phase phaseOf(int64_t r, const PhasedWindow &window);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_CONVPHASES_H
