//===- Smoothable.h - tensors whose channels may be scaled ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_REPAIR_SMOOTHABLE_H
#define INGOT_PASSES_QUANTIZE_REPAIR_SMOOTHABLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace ingot::quantize {

/// A tensor that products by constant weights read, as it is or pooled: what
/// divides a channel of it multiplies the weights of that channel.
struct SmoothableTensor {
  mlir::Value value;
  /// The ONNX nodes that it comes from; `#2` and so on tells those of one name
  /// apart.
  std::string name;
  int64_t axis, channels;
  /// A product, and the dimension of its weights that the channels go along.
  struct Reader {
    mlir::Operation *product;
    int64_t weightsAxis;
    /// Whether large weights of one channel make those of others coarser: not
    /// those of single channels, nor what reads few numbers, pooled.
    bool isCoarse;
  };
  llvm::SmallVector<Reader> readers;
  /// What stands before some of them.
  llvm::SmallVector<mlir::Operation *> pools;
  /// Sums and products that read it as well.
  llvm::SmallVector<mlir::OpOperand *> others;
};

llvm::SmallVector<SmoothableTensor>
findSmoothableTensors(mlir::func::FuncOp function);

/// Whether an operation multiplies channels by powers of two, each by its own,
/// as smoothing does.
bool scalesChannels(mlir::Operation *op);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_REPAIR_SMOOTHABLE_H
