//===- DnnlRecord.h - description of a dnnl op for the glue -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record of the table in ingot/abi/dnnl.h, and the values that its calls
// pass.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_DNNL_LOWER_DNNLRECORD_H
#define INGOT_PASSES_DNNL_LOWER_DNNLRECORD_H

#include "mlir/IR/Builders.h"

namespace ingot {

struct DnnlRecord {
  llvm::SmallVector<int64_t> words;
  /// The memrefs whose data pointers are the call's arguments.
  llvm::SmallVector<mlir::Value> arguments;
  /// Dynamic dims and strides, as index values.
  llvm::SmallVector<mlir::Value> dynamic;
};

/// Describes the dnnl op `op` on memrefs. `builder` inserts the values that the
/// call needs before the op. `name` is the offset of the node's name. Fails
/// with a message if the runtime cannot run the op.
mlir::FailureOr<DnnlRecord> describeDnnlOp(mlir::OpBuilder &builder,
                                           mlir::Operation *op, int64_t name);

} // namespace ingot

#endif // INGOT_PASSES_DNNL_LOWER_DNNLRECORD_H
