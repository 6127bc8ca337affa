//===- Bufferize.h - bufferization of kernel ops ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_BUFFERIZE_H
#define INGOT_DIALECTS_KERNEL_BUFFERIZE_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace ingot::kernel {

/// Returns the operands of `op`. Tensors are replaced by their buffers.
mlir::FailureOr<mlir::SmallVector<mlir::Value>>
getBuffers(mlir::Operation *op, mlir::RewriterBase &rewriter,
           const mlir::bufferization::BufferizationOptions &options,
           mlir::bufferization::BufferizationState &state);

/// Makes a copy of `op` with `buffers` as operands. Moves the regions of `op`
/// to the copy.
mlir::Operation *createOnBuffers(mlir::RewriterBase &rewriter,
                                 mlir::Operation *op,
                                 mlir::ValueRange buffers);

/// Replaces `op` by a copy on buffers. Buffers of destinations replace the
/// results.
mlir::LogicalResult
bufferize(mlir::Operation *op, mlir::RewriterBase &rewriter,
          const mlir::bufferization::BufferizationOptions &options,
          mlir::bufferization::BufferizationState &state);

/// Bufferizes a kernel, whose destinations are only written. `Model` derives
/// from it, for ops of type `Op`.
template <typename Model, typename Op>
struct BufferizedKernel
    : mlir::bufferization::DstBufferizableOpInterfaceExternalModel<Model, Op> {
  bool
  bufferizesToMemoryRead(mlir::Operation *op, mlir::OpOperand &operand,
                         const mlir::bufferization::AnalysisState &) const {
    return !mlir::cast<mlir::DestinationStyleOpInterface>(op).isDpsInit(
        &operand);
  }

  mlir::LogicalResult
  bufferize(mlir::Operation *op, mlir::RewriterBase &rewriter,
            const mlir::bufferization::BufferizationOptions &options,
            mlir::bufferization::BufferizationState &state) const {
    return kernel::bufferize(op, rewriter, options, state);
  }
};

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_BUFFERIZE_H
