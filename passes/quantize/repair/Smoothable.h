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

/// A tensor that products with constant weights read, directly or pooled.
/// Dividing a channel of the tensor can be undone by multiplying the weights of
/// that channel.
struct SmoothableTensor {
  mlir::Value value;
  /// The ONNX nodes that compute the tensor. Suffixes `#2`, `#3`, … make names
  /// unique.
  std::string name;
  int64_t axis, channels;
  /// A product, and the dimension of its weights that counts input channels.
  struct Reader {
    mlir::Operation *product;
    int64_t weightsAxis;
    /// True if large weights of one input channel make the quantization of the
    /// other weights coarser. False for depthwise products, and for products
    /// that read few, pooled values.
    bool isCoarse;
  };
  llvm::SmallVector<Reader> readers;
  /// Pools between the tensor and some of its readers.
  llvm::SmallVector<mlir::Operation *> pools;
  /// Operands of additions and elementwise multiplications that read the tensor
  /// as well.
  llvm::SmallVector<mlir::OpOperand *> others;
};

llvm::SmallVector<SmoothableTensor>
findSmoothableTensors(mlir::func::FuncOp function);

/// Returns true if `op` multiplies each channel by a power of two, as smoothing
/// does.
bool scalesChannels(mlir::Operation *op);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_REPAIR_SMOOTHABLE_H
