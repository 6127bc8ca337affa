//===- NNToCuda.h - patterns of nn-to-cuda ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_LOWER_NNTOCUDA_H
#define INGOT_PASSES_CUDA_LOWER_NNTOCUDA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::cuda {

/// Returns the type of the factors of `op`.
mlir::Type factorType(mlir::Operation *op);

/// Packs weights `…, K, N`, or `…, N, K` if `transposed`, as `…, N, K'`. Rows
/// are padded to a multiple of the widest copy. Returns null if the bytes of
/// the weights cannot be read.
mlir::ElementsAttr packColumns(mlir::ElementsAttr weights, bool transposed,
                               mlir::Type element);

/// Gives a kernel an epilogue that yields the result of the kernel.
void buildPlainEpilogue(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Region &epilogue);

/// Adds the patterns of reductions and poolings.
void populateReductionsToCuda(mlir::RewritePatternSet &patterns);

/// Adds the pattern of resizes.
void populateResampleToCuda(mlir::RewritePatternSet &patterns);

/// Adds the patterns of softmax and norms.
void populateRowsToCuda(mlir::RewritePatternSet &patterns);

/// Adds the pattern of running sums.
void populateScanToCuda(mlir::RewritePatternSet &patterns);

/// Adds the patterns of scatters.
void populateScatterToCuda(mlir::RewritePatternSet &patterns);

/// Adds the patterns of top k, and of the first of sorted rows.
void populateTopKToCuda(mlir::RewritePatternSet &patterns);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_LOWER_NNTOCUDA_H
