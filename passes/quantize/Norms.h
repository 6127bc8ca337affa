//===- Norms.h - normalizations before products -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_NORMS_H
#define INGOT_PASSES_QUANTIZE_NORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace ingot::quantize {

/// A normalization over the last dimension, with a constant scale for each
/// channel, that only matrix products by constant weights read.
struct NormBeforeProducts {
  mlir::Operation *norm;
  /// The ONNX nodes that it comes from; `#2` and so on tells those of one name
  /// apart.
  std::string name;
  llvm::SmallVector<mlir::Operation *> products;
  int64_t channels;
};

llvm::SmallVector<NormBeforeProducts>
findNormsBeforeProducts(mlir::func::FuncOp function);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_NORMS_H
