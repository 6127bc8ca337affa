//===- ConvTransposePhases.h - phases ---------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transposed convolution has, in one dimension, stride s, dilation d and
// begin pad p. Element o of its result sums x[i] w[k] over all i and k with `i
// s + k d = o + p`. StridePhase r has the elements `o = m s + r`. Each element
// sums `x[m + t] w[k]` over the taps k for which `t = (r + p - k d) / s` is an
// integer. These t grow in equal steps as k falls, so a phase is a convolution.
// Its padding is -t of the lowest t; a positive lowest t skips the first
// elements.
//
// If the size n of x is dynamic, the size of the result is `s n` plus a
// constant. All other sizes are then n plus a constant.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_CONVTRANSPOSEPHASES_H
#define INGOT_PASSES_KERNEL_CONVTRANSPOSEPHASES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::kernel {

/// A size: a constant or, if src is dynamic, the size of src plus a constant.
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
struct StridePhase {
  /// The result elements are `first + i stride` for i < count.
  int64_t first;
  Extent count;
  /// The elements of src that are read.
  int64_t srcFirst;
  Extent srcCount;
  /// For each tap of the convolution, the tap of the transposed convolution.
  /// Empty if the window lies in the padding.
  llvm::SmallVector<int64_t> taps;
  int64_t numTaps, dilation, padLow, padHigh;

  bool readsAs(const StridePhase &other) const {
    return count == other.count && srcFirst == other.srcFirst &&
           srcCount == other.srcCount && numTaps == other.numTaps &&
           taps.size() == other.taps.size() && dilation == other.dilation &&
           padLow == other.padLow && padHigh == other.padHigh;
  }
};

/// A dimension of a transposed convolution. If src is dynamic, `dstSize` is the
/// size of dst minus `stride` times the size of src.
struct PhasedWindow {
  int64_t srcSize, dstSize, kernel, stride, pad, dilation;
};
StridePhase phaseOf(int64_t r, const PhasedWindow &window);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_CONVTRANSPOSEPHASES_H
