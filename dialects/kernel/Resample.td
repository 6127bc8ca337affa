//===- Resample.td - resampling of any backend -------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_RESAMPLE_TD
#define INGOT_DIALECTS_KERNEL_RESAMPLE_TD

// Members of an op that resamples neighbouring dimensions. The op has the
// operands `src`, `positions`, `weights` and `dst`, and the attribute `first`.
// At most one dimension, of channels, is behind the resampled ones.
defvar resampleDeclarations = [{
  int64_t numDims() { return int64_t(getPositions().size()); }
  /// Returns the number of taps in each dimension.
  int64_t numTaps() {
    return ::mlir::cast<::mlir::ShapedType>(getPositions()[0].getType())
        .getShape()[0];
  }
  /// Returns the number of taps in all dimensions together.
  int64_t numAllTaps() {
    int64_t taps = 1;
    for (int64_t i = 0; i < numDims(); ++i)
      taps *= numTaps();
    return taps;
  }
  /// Returns the operations for an element of dst. The dimensions are
  /// interpolated one after the other.
  int64_t numOperations() {
    int64_t taps = 0, all = 1;
    for (int64_t i = 0; i < numDims(); ++i)
      taps += (all *= numTaps());
    return getWeights().empty() ? 0 : 2 * taps;
  }
  /// Returns the last dimension that is resampled.
  int64_t lastDim() { return int64_t(getFirst()) + numDims() - 1; }
  /// Returns true if there is a dimension of channels.
  bool hasChannels() {
    return ::mlir::cast<::mlir::ShapedType>(getSrc().getType()).getRank() >
           lastDim() + 1;
  }
}];

#endif // INGOT_DIALECTS_KERNEL_RESAMPLE_TD
