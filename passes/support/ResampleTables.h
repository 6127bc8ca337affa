//===- ResampleTables.h - tables of taps of resizing ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the operands of kernels that resample neighboring dimensions: ops with
// the members of dialects/kernel/Resample.td.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RESAMPLETABLES_H
#define INGOT_PASSES_SUPPORT_RESAMPLETABLES_H

#include "passes/support/Reason.h"
#include "passes/support/Resampling.h"

namespace ingot::support {

/// The taps of a resized dimension of `size` elements. An element here is a run
/// of `inner` neighbouring elements, which are resampled together.
struct TapTables {
  OpBuilder &b;
  Location loc;
  Sampling sampling;
  ResampledAxis axis;
  OpFoldResult size;
  int64_t inner;
  int64_t maxBytes;
  /// Tensors with a row for each tap; nearest resampling has no weights.
  Value positions, weights;

  void create();
  /// Returns the rows of all tables in sequence. Returns nullopt if only a run
  /// can compute them, or if they are too large.
  std::optional<std::vector<double>> compute();

private:
  SmallVector<Value> numbersAt(OpBuilder &b, Value at);
  bool createNow();
  Type typeOfRow(int64_t i) {
    return i == 0 ? Type(b.getI32Type()) : Type(b.getF32Type());
  }
  int64_t taps() { return numTaps(sampling.mode); }
  int64_t tables() { return sampling.mode == nn::ResizeMode::nearest ? 1 : 2; }
};

/// The operands of a kernel that resamples.
struct ResampleOperands {
  Value src, dst;
  SmallVector<Value> positions, weights;
  int64_t first = 0;
};

/// Returns the dimensions that `op` does not only copy.
SmallVector<int64_t> resizedDims(nn::ResizeOp op);

/// Returns the number of taps in all resized dimensions together.
int64_t numAllTaps(nn::ResizeOp op);

/// Returns why no kernel resamples the dimensions of `op` at once.
Reason whyNotResampled(nn::ResizeOp op);

/// Makes the operands of a kernel. The dimensions behind the last resized one
/// are joined into one of channels. With `joinsChannels` they are joined with
/// the resized dimension instead. Tables of more than `maxTableBytes` bytes are
/// computed in each run.
ResampleOperands makeResampleOperands(OpBuilder &b, nn::ResizeOp op,
                                      bool joinsChannels,
                                      int64_t maxTableBytes);

/// Gives the result of the kernel, of f32, the shape of that of `op`.
Value splitResampled(OpBuilder &b, nn::ResizeOp op, Value result);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_RESAMPLETABLES_H
