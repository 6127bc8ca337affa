//===- Bufferize.h - bufferization of kernel ops ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_BUFFERIZE_H
#define INGOT_DIALECTS_KERNEL_BUFFERIZE_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace ingot::kernel {

/// Returns the operands of `op`, with buffers in place of tensors.
mlir::FailureOr<mlir::SmallVector<mlir::Value>>
getBuffers(mlir::Operation *op, mlir::RewriterBase &rewriter,
           const mlir::bufferization::BufferizationOptions &options,
           mlir::bufferization::BufferizationState &state);

/// Makes a copy of `op` on `buffers`. Moves its regions out of `op`.
mlir::Operation *createOnBuffers(mlir::RewriterBase &rewriter,
                                 mlir::Operation *op,
                                 mlir::ValueRange buffers);

/// Replaces `op` by a copy on buffers. The result, if there is one, is the
/// buffer of its destination.
mlir::LogicalResult
bufferize(mlir::Operation *op, mlir::RewriterBase &rewriter,
          const mlir::bufferization::BufferizationOptions &options,
          mlir::bufferization::BufferizationState &state);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_BUFFERIZE_H
