//===- WinogradCost.h - costs of Winograd's algorithm -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost model of 3x3 convolutions by Winograd's algorithm, in tiles of 2x2
// or 4x4 outputs. Tiles of 4x4 need 1/4 of the products, tiles of 2x2 need
// 16/36. The transforms and the larger weights cost a part of the gain.
//
// The choice for f32 and f16 is made when operations are lowered, because the
// artifact stores transformed weights. The choice for int8 is made for each CPU
// level, because its weights are transformed at run time.
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

  /// Returns the sizes of `op`. A typical size replaces each open size.
  static WinogradSizes of(nn::ConvOp op);
  /// Returns the sizes for a result `dst` of N, H, W, C. If N, H or W is open,
  /// typical sizes replace all three.
  static WinogradSizes ofResult(llvm::ArrayRef<int64_t> dst, int64_t channels);

  int64_t pixels() const { return images * height * width; }
  /// Returns the number of tiles of `outputs` x `outputs` pixels, at least 1.
  int64_t tiles(int64_t outputs) const;
};

/// The way in which a convolution of floats multiplies.
struct FloatForm {
  /// The bytes of a weight as it is stored: 4 or 2.
  int64_t weightBytes = 4;
  /// True if f16 would be multiplied by f16 without Winograd.
  bool multipliesF16 = false;
};

/// Chooses tiles for a convolution of floats, or none. The fastest tiles are
/// chosen if they save enough time for the bytes that they add. `target` only
/// converts the costs into cycles.
Answer<std::optional<Winograd>> chooseFloatTiles(const WinogradSizes &sizes,
                                                 const FloatForm &form,
                                                 OptimizeFor goal,
                                                 const TargetInfo &target);

/// The way in which a convolution of int8 multiplies.
struct ByteForm {
  /// The cost without Winograd: the number of instructions for a vector of
  /// columns, four channels, one pixel and one tap.
  double direct;
  /// The size of the largest tiles, 2 or 4, for which sums are proved to be
  /// exact.
  int64_t proved;
  /// The columns of a register tile.
  int64_t tileColumns;
};

/// Chooses tiles for a convolution of int8, or none.
Answer<std::optional<Winograd>> chooseByteTiles(const WinogradSizes &sizes,
                                                const ByteForm &form,
                                                const TargetInfo &target);

/// Records a choice of tiles for `op`.
void recordTiles(mlir::Operation *op,
                 const Answer<std::optional<Winograd>> &answer);

/// Returns true if `product` of int16 is to be multiplied as int16 instead of
/// f32. The rule uses the number of its rows and channels, and the time that
/// Winograd would save in f32. Implements Policy::multiplyInt16.
Answer<bool> isForInt16(mlir::Operation *product, OptimizeFor goal);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_WINOGRADCOST_H
