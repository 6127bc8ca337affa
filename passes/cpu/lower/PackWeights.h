//===- PackWeights.h - weights in panels ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout that the cpu dialect's kernels read: see CpuOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_PACKWEIGHTS_H
#define INGOT_PASSES_CPU_LOWER_PACKWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace ingot::cpu {

/// The bytes of a constant, however it is reshaped; none for what is computed.
/// They may be those of `storage`.
std::optional<llvm::ArrayRef<char>> findBytes(mlir::Value value,
                                              std::vector<char> &storage);

/// How many channels share a panel if there are `channels` of them: 32, as many
/// as a register tile has, so that a kernel reads its weights as one stream; 16
/// where the padding behind the last panel would be large.
int64_t panelWidth(int64_t channels);

/// `O, C/G, K1…Kn` as `G*panels, K1…Kn, C/G, P`, of `element`: the weights' own
/// type, or bf16 or f16 for f32. In pairs, if of f16, for `src` of f16. Null
/// for other than numbers.
mlir::ElementsAttr packConvWeights(mlir::ElementsAttr weights, int64_t groups,
                                   mlir::Type element, mlir::Type src = {});

/// `O, C, 3, 3` of f32 as `cpu.winograd_conv` takes it for tiles of `outputs` x
/// `outputs` pixels: `panels, (outputs + 2)^2, C, P`.
mlir::ElementsAttr packWinogradWeights(mlir::ElementsAttr weights,
                                       int64_t outputs);

/// Weights of f32, in any order, as f16.
mlir::ElementsAttr roundToF16(mlir::ElementsAttr weights);

/// Where the weights of output channels are: `depth` of each of `count`, `step`
/// elements apart, the first of two channels `stride`.
struct WeightColumns {
  int64_t count, depth, stride, step;
};

/// Weights of f32, those of each output channel times a power of two with which
/// products of f16 may be added up as f16, and what the sums are multiplied
/// with: 1 by those powers, for each channel.
struct ScaledWeights {
  mlir::ElementsAttr weights, undo;
};

/// Null for weights that are not all numbers, or as good as infinite.
std::optional<ScaledWeights> scaleForHalfSums(mlir::ElementsAttr weights,
                                              const WeightColumns &columns);

/// A weight that f16 does not hold, or that is no number; or the largest of
/// weights that are all so small that f16, whose numbers near 0 are 2^-24
/// apart, rounds them as coarsely as bf16 or worse. Of f32.
std::optional<double> findBeyondF16(mlir::ElementsAttr weights);

/// Of weights of bytes, `-zeroPoint` times the sum over channels and the taps
/// of the last dimension, as `cpu.conv` takes it: `G*panels, K1…K(n-1), P` of
/// i32.
mlir::ElementsAttr packCompensation(mlir::ElementsAttr weights, int64_t groups,
                                    int64_t zeroPoint);

/// `C, 1, K1…Kn` as `K1…Kn, C`.
mlir::ElementsAttr packDepthwiseWeights(mlir::ElementsAttr weights);
/// The same of bytes as `cpu.depthwise_conv` takes them as fours: see
/// `ByteFours`.
mlir::ElementsAttr packDepthwiseFours(mlir::ElementsAttr weights);
/// Of groups of few channels, as many of src as of dst: taps, then each channel
/// of a group for all channels of dst.
mlir::ElementsAttr packGroupedWeights(mlir::ElementsAttr weights);

/// `…, K, N` (`…, N, K` if `transposed`) as `…, panels, K, P`, of `element`.
mlir::ElementsAttr packMatMulWeights(mlir::ElementsAttr weights,
                                     bool transposed, mlir::Type element,
                                     mlir::Type src = {});

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_PACKWEIGHTS_H
