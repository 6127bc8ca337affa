//===- HalfProducts.h - what is multiplied as bf16 or f16 -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_HALFPRODUCTS_H
#define INGOT_PASSES_CPU_POLICY_HALFPRODUCTS_H

#include "mlir/IR/Operation.h"

namespace ingot::cpu {

/// Whether it pays to multiply the factors of `op`, a convolution or a matrix
/// product, as bf16. They are multiplied in twos, those of one tap of a
/// convolution apart: few terms do not pay for rounding them, nor for AMX
/// tiles, an odd one at the end of a tap is copied, and of groups of few
/// channels floats share vectors.
bool isWorthBF16(mlir::Operation *op);

/// How many constant weights the products in `root` have.
int64_t countWeights(mlir::Operation *root);

/// Whether `op`, of a model with so many weights, multiplies f32 by weights of
/// f16 no slower than by weights of f32. They are widened, once for all rows of
/// a task. That is hidden where the weights of the model come from behind the
/// second-level cache and there are rows enough, or where weights of few rows
/// do. Few weights are not worth it, and few channels are copied for one tile
/// of pixels at a time where only a run knows how long rows are.
bool isWorthHalfWeights(mlir::Operation *op, int64_t allWeights);

/// Whether it pays to add products of `op` up as f16 first. Sums of f16 are
/// widened once a run of k, which takes as long as some ten products; groups of
/// few channels go by vectors of f32. Depthwise filters multiply f32, too, but
/// read half of the bytes.
bool isWorthHalfSums(mlir::Operation *op);

/// Whether `op` is a depthwise convolution far from all products for which
/// `isHalf` is true: neither does one make what it reads, nor read what it
/// makes, with no product or mean between them. It multiplies f32 in any case,
/// so that there reading and writing half of the bytes, which have to be
/// widened and rounded, takes longer than floats that caches hold.
bool isDepthwiseAlone(mlir::Operation *op,
                      llvm::function_ref<bool(mlir::Operation *)> isHalf);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_HALFPRODUCTS_H
