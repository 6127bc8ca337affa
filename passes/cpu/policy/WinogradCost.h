//===- WinogradCost.h - what Winograd's algorithm costs ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one cost model of 3x3 convolutions by Winograd's algorithm, in tiles of
// 2x2 or 4x4 outputs. Tiles of 4x4 take a quarter of the products, those of 2x2
// take 16/36. The transforms and the larger weights take a part of the gain.
//
// The choice for f32 and f16 is made when operations are lowered, because
// transformed weights lie in the artifact. The choice for int8 is made for each
// CPU level, because its weights are transformed in a run.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_WINOGRADCOST_H
#define INGOT_PASSES_CPU_POLICY_WINOGRADCOST_H

#include "dialects/cpu/Winograd.h"
#include "passes/backend/Policy.h"

namespace ingot::cpu {

/// The sizes of a 3x3 convolution on which its costs depend.
struct WinogradSizes {
  int64_t images, height, width, channels, columns;

  /// The sizes of `op`. An open size counts as usual.
  static WinogradSizes of(nn::ConvOp op);
  /// The sizes for a result `dst` of N, H, W, C. If one of N, H, W is open, all
  /// of them count as usual.
  static WinogradSizes ofResult(llvm::ArrayRef<int64_t> dst, int64_t channels);

  int64_t pixels() const { return images * height * width; }
  /// The number of tiles of `outputs` x `outputs` pixels.
  int64_t tiles(int64_t outputs) const;
};

/// How a convolution of floats multiplies.
struct FloatForm {
  /// Bytes of a weight as it is stored: 4, or 2.
  int64_t weightBytes = 4;
  /// True if f16 would be multiplied by f16 without Winograd.
  bool multipliesF16 = false;
};

/// Chooses tiles for a convolution of floats, or none: those that take the
/// least time, if they save enough time for the bytes that they add. `target`
/// only converts the costs into cycles.
Answer<std::optional<Winograd>> chooseFloatTiles(const WinogradSizes &sizes,
                                                 const FloatForm &form,
                                                 OptimizeFor goal,
                                                 const TargetInfo &target);

/// How a convolution of int8 multiplies.
struct ByteForm {
  /// Instructions for each four channels and vector of columns of a pixel and
  /// tap, without Winograd.
  double direct;
  /// The largest tiles, 2 or 4, whose sums are proved to be exact; 0: none.
  int64_t proved;
  /// Columns of a register tile.
  int64_t tileColumns;
};

/// Chooses tiles for a convolution of int8, or none.
Answer<std::optional<Winograd>> chooseByteTiles(const WinogradSizes &sizes,
                                                const ByteForm &form,
                                                const TargetInfo &target);

/// Records a choice of tiles for `op`.
void recordTiles(mlir::Operation *op,
                 const Answer<std::optional<Winograd>> &answer);

/// The lowest level that the artifact has code for. Costs that serve all levels
/// are those of this one.
TargetInfo lowestTarget(mlir::Operation *op);

/// Returns true if `product`, of int16, is to be multiplied so, and not as f32:
/// by the number of its rows and channels, and by what Winograd would save in
/// f32. Implements Policy::multiplyWords.
Answer<bool> multiplyWordsAnswer(mlir::Operation *product, OptimizeFor goal);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_WINOGRADCOST_H
