//===- Matrices.h - kernels that are products of matrices -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_MATRICES_H
#define INGOT_PASSES_KERNEL_MATRICES_H

#include "dialects/kernel/KernelInterfaces.h"
#include "passes/support/Reason.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::kernel {

/// Windows of a convolution on channels-last data.
struct ConvWindows {
  llvm::ArrayRef<int64_t> sizes, strides, pads;
  int64_t groups = 1;
};

/// Says why a convolution is not a product of matrices: pixels by input
/// channels, times the weights.
Reason whyNotPixelRows(const ConvWindows &windows);

/// Says why `op` does not become a kernel on matrices, where all dimensions but
/// the last are rows. It may be on memrefs, or have an epilogue operand that
/// broadcasts along some of the rows.
Reason whyNotMatrices(EpilogueOpInterface op);

/// Says why no reshape makes a matrix of `dst`: a slice with steps.
Reason whyNotReshaped(mlir::Value dst);

/// Builds a kernel, with an empty epilogue, on reshaped operands.
using BuildKernel = llvm::function_ref<EpilogueOpInterface(
    mlir::Value src, mlir::ValueRange operands, mlir::Value dst)>;

/// Replaces `op` by the kernel that `build` makes of `src`, the epilogue
/// operands and the destination, with their dimensions in `groups`. The
/// epilogue moves there.
void replaceReshaped(mlir::PatternRewriter &rewriter, EpilogueOpInterface op,
                     mlir::Value src,
                     llvm::ArrayRef<mlir::ReassociationIndices> groups,
                     BuildKernel build);

/// Replaces `op` by a kernel on matrices, as replaceReshaped does. A result of
/// the model is computed where it is to go.
void replaceByMatrices(mlir::PatternRewriter &rewriter, EpilogueOpInterface op,
                       mlir::Value src,
                       llvm::ArrayRef<mlir::ReassociationIndices> groups,
                       BuildKernel build);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_MATRICES_H
