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

/// The operands of `op`, with buffers for tensors.
mlir::FailureOr<mlir::SmallVector<mlir::Value>>
getBuffers(mlir::Operation *op, mlir::RewriterBase &rewriter,
           const mlir::bufferization::BufferizationOptions &options,
           mlir::bufferization::BufferizationState &state);

/// `op` on `buffers`, with its regions, which `op` loses.
mlir::Operation *createOnBuffers(mlir::RewriterBase &rewriter,
                                 mlir::Operation *op,
                                 mlir::ValueRange buffers);

/// Replaces `op` by itself on buffers. Its result, if it has one, is in the
/// buffer of its one destination.
mlir::LogicalResult
bufferize(mlir::Operation *op, mlir::RewriterBase &rewriter,
          const mlir::bufferization::BufferizationOptions &options,
          mlir::bufferization::BufferizationState &state);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_BUFFERIZE_H
