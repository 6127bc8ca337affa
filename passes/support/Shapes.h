//===- Shapes.h - arithmetic on shapes --------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_SHAPES_H
#define INGOT_PASSES_SUPPORT_SHAPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace ingot::lower {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

inline mlir::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// The product of sizes, unknown if one of them is.
inline int64_t productOf(mlir::ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (mlir::ShapedType::isDynamic(size))
      return size;
    product *= size;
  }
  return product;
}

} // namespace ingot::lower

#endif // INGOT_PASSES_SUPPORT_SHAPES_H
