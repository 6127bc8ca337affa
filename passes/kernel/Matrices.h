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

/// The windows of a convolution on channels-last data.
struct ConvGeometry {
  llvm::ArrayRef<int64_t> sizes, strides, pads;
  int64_t groups = 1;
};

/// Returns the destination of a kernel.
mlir::Value dstOf(EpilogueOpInterface op);

bool allOnes(llvm::ArrayRef<int64_t> sizes);

/// Returns why a convolution is not a matrix product of pixels by input
/// channels with the weights.
Reason whyNotPixelRows(const ConvGeometry &windows);

/// Returns why `op` cannot become a kernel on matrices whose rows are all
/// dimensions but the last. For example, it is on memrefs, or an epilogue
/// operand broadcasts along some of the rows.
Reason whyNotMatrices(EpilogueOpInterface op);

/// Returns why `dst` cannot be reshaped to a matrix: it is a strided slice.
Reason whyNotReshaped(mlir::Value dst);

/// Builds a kernel, with an empty epilogue, on reshaped operands.
using BuildKernel = llvm::function_ref<EpilogueOpInterface(
    mlir::Value src, mlir::ValueRange operands, mlir::Value dst)>;

/// Replaces `op` by the kernel that `build` creates. Its operands are `src`,
/// the epilogue operands and the destination, with dimensions collapsed by
/// `groups`. The epilogue moves to the kernel.
void replaceReshaped(mlir::PatternRewriter &rewriter, EpilogueOpInterface op,
                     mlir::Value src,
                     llvm::ArrayRef<mlir::ReassociationIndices> groups,
                     BuildKernel build);

/// Replaces `op` by a kernel on matrices, as replaceReshaped does. A result of
/// the model is computed in place.
void replaceByMatrices(mlir::PatternRewriter &rewriter, EpilogueOpInterface op,
                       mlir::Value src,
                       llvm::ArrayRef<mlir::ReassociationIndices> groups,
                       BuildKernel build);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_MATRICES_H
