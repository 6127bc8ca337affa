//===- PackWeights.h - weights in panels ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts of weights that the cpu dialect's kernels read: see CpuOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_PACKWEIGHTS_H
#define INGOT_PASSES_CPU_LOWER_PACKWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace ingot::cpu {

/// Returns the bytes of a constant, also behind reshapes, or nullopt if the
/// value is computed. `storage` may hold the bytes.
std::optional<llvm::ArrayRef<char>> findBytes(mlir::Value value,
                                              std::vector<char> &storage);

/// Returns the number of channels that share a panel. It is 32, the width of a
/// register tile, so that a kernel reads its weights as one stream. It is 16 if
/// 32 would add much padding to the last panel.
int64_t panelWidth(int64_t channels);

/// Packs `O, C/G, K1…Kn` as `G*panels, K1…Kn, C/G, P`. `element` is the
/// weights' own type, or bf16 or f16 for weights of f32. Weights of f16 are
/// packed in pairs if `src` is f16. Returns null if a value is not finite.
mlir::ElementsAttr packConvWeights(mlir::ElementsAttr weights, int64_t groups,
                                   mlir::Type element, mlir::Type src = {});

/// Transforms `O, C, 3, 3` of f32 into the weights of `cpu.winograd_conv` for
/// tiles of `outputs` x `outputs` pixels: `panels, (outputs + 2)^2, C, P`.
mlir::ElementsAttr packWinogradWeights(mlir::ElementsAttr weights,
                                       int64_t outputs);

/// Rounds f32 weights, in any order, to f16.
mlir::ElementsAttr roundToF16(mlir::ElementsAttr weights);

/// The positions of the weights of `count` output channels. A channel has
/// `depth` weights that are `step` elements apart. The first weights of
/// neighbouring channels are `stride` elements apart.
struct WeightColumns {
  int64_t count, depth, stride, step;
};

/// Scaled f32 weights, whose products with f16 may be added up as f16.
/// `weights` of each output channel are scaled by a power of two. `undo` holds
/// the inverse factor of each channel, for its sums.
struct ScaledWeights {
  mlir::ElementsAttr weights, undo;
};

/// Scales weights for sums of f16. Returns null if a weight is NaN, infinite or
/// almost infinite.
std::optional<ScaledWeights> scaleForF16Sums(mlir::ElementsAttr weights,
                                             const WeightColumns &columns);

/// Returns an f32 weight that f16 cannot represent, or that is NaN. If all
/// weights are very small, returns the largest of them. Values of f16 near 0
/// are 2^-24 apart, so that such weights lose as much precision as in bf16, or
/// more.
std::optional<double> findBeyondF16(mlir::ElementsAttr weights);

/// Packs the zero-point compensation of weights of bytes, in the layout of
/// `cpu.conv`: `G*panels, K1…K(n-1), P` of i32. Each element is `-zeroPoint`
/// times a sum of weights over channels and the taps of the last dimension.
mlir::ElementsAttr packCompensation(mlir::ElementsAttr weights, int64_t groups,
                                    int64_t zeroPoint);

/// Packs `C, 1, K1…Kn` as `K1…Kn, C`.
mlir::ElementsAttr packDepthwiseWeights(mlir::ElementsAttr weights);
/// Packs weights of groups with few channels, where src and dst have the same
/// number of channels. The order is taps, channel in its group, channel of dst.
mlir::ElementsAttr packGroupedWeights(mlir::ElementsAttr weights);

/// Packs `…, K, N` (`…, N, K` if `transposed`) as `…, panels, K, P` of
/// `element`.
mlir::ElementsAttr packMatMulWeights(mlir::ElementsAttr weights,
                                     bool transposed, mlir::Type element,
                                     mlir::Type src = {});

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_PACKWEIGHTS_H
