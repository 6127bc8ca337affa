//===- Shapes.h - size arithmetic -------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares size arithmetic. A known size is an index attribute, a dynamic size
// an index value.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_SHAPES_H
#define INGOT_PASSES_SUPPORT_SHAPES_H

#include "dialects/nn/TensorTypes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace ingot::support {

using mlir::ArrayRef;
using mlir::Location;
using mlir::OpBuilder;
using mlir::OpFoldResult;
using mlir::SmallVector;
using mlir::Value;
using nn::typeOf;
using Sizes = llvm::SmallVector<OpFoldResult>;

inline ArrayRef<int64_t> shapeOf(Value value) {
  return mlir::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// Returns true if a tensor is known to be empty. Callers treat empty tensors
/// separately, because slices of empty dimensions have no valid offset.
inline bool isKnownEmpty(ArrayRef<int64_t> shape) {
  return llvm::is_contained(shape, 0);
}

/// Returns true if the number of elements determines the dynamic sizes of a
/// type. An empty tensor does not determine them.
inline bool followsFromCount(mlir::RankedTensorType type) {
  return type.hasStaticShape() ||
         (type.getNumDynamicDims() == 1 && !isKnownEmpty(type.getShape()));
}

/// Returns sizes as text, like "1x?x8".
std::string describeSizes(ArrayRef<int64_t> sizes);

/// Returns the product of sizes, dynamic if one size is.
inline int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (mlir::ShapedType::isDynamic(size))
      return size;
    product *= size;
  }
  return product;
}

Value indexConstant(OpBuilder &b, Location loc, int64_t value);
/// Returns a size as a value, which is a constant if the size is known.
Value indexValue(OpBuilder &b, Location loc, OpFoldResult size);

/// Returns all sizes of a tensor, or one of them as a value.
Sizes sizesOf(OpBuilder &b, Location loc, Value tensor);
Value sizeOf(OpBuilder &b, Location loc, Value tensor, int64_t dim);
/// Returns the dynamic sizes of a result of `type`. Dynamic dimension i has the
/// size of dimension i of `like`.
SmallVector<Value> dynamicSizesLike(OpBuilder &b, Location loc,
                                    mlir::RankedTensorType type, Value like);
/// Returns the dynamic sizes among `dims` of a tensor.
SmallVector<Value> dynamicSizesOf(OpBuilder &b, Location loc, Value tensor,
                                  ArrayRef<int64_t> dims);

/// Computes with sizes, and folds known sizes to the result of a run: sums and
/// products wrap around, and a division by 0 gives 0.
OpFoldResult addSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult subSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult mulSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult divSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
/// Returns x if `size` is the minimum of x and a constant of at least 2, like
/// the number of a table's first rows. Returns null otherwise. If x and `size`
/// broadcast to each other, they are equal. A `size` that is smaller than x is
/// at least 2, so it cannot broadcast.
Value sizeBeforeCut(Value size);
OpFoldResult minSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult maxSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
/// Returns the product of all sizes, with the known sizes last.
OpFoldResult productOf(OpBuilder &b, Location loc,
                       ArrayRef<OpFoldResult> sizes);

/// Returns the shape of a type of these sizes, or the values of the dynamic
/// sizes.
SmallVector<int64_t> staticShape(ArrayRef<OpFoldResult> sizes);
SmallVector<Value> dynamicSizes(ArrayRef<OpFoldResult> sizes);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_SHAPES_H
