//===- Shapes.h - types, sizes and their arithmetic -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes are index attributes where they are known and index values where not.
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

/// Whether there is surely nothing in it: no slice can say where that starts.
inline bool isKnownEmpty(ArrayRef<int64_t> shape) {
  return llvm::is_contained(shape, 0);
}

/// Whether the number of its elements tells what is open in a type: of no
/// elements, nothing follows.
inline bool followsFromCount(mlir::RankedTensorType type) {
  return type.hasStaticShape() ||
         (type.getNumDynamicDims() == 1 && !isKnownEmpty(type.getShape()));
}

/// The product of sizes, unknown if one of them is.
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
/// A size as a value, a constant if it is known.
Value indexValue(OpBuilder &b, Location loc, OpFoldResult size);

/// All sizes of a tensor, and one of them as a value.
Sizes sizesOf(OpBuilder &b, Location loc, Value tensor);
Value sizeOf(OpBuilder &b, Location loc, Value tensor, int64_t dim);
/// The dynamic sizes of a result of `type`, whose dynamic dimension i is as
/// large as dimension `i` of `like`.
SmallVector<Value> dynamicSizesLike(OpBuilder &b, Location loc,
                                    mlir::RankedTensorType type, Value like);
/// The dynamic sizes among `dims` of a tensor.
SmallVector<Value> dynamicSizesOf(OpBuilder &b, Location loc, Value tensor,
                                  ArrayRef<int64_t> dims);

/// Arithmetic, done now where both sizes are known, as a run would do it: sums
/// and products wrap, and divided by nothing is nothing.
OpFoldResult addSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult subSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult mulSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult divSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
/// What `size` is, held below a number of two or more, as that of a table's
/// first rows is; null of others. Where one of both broadcasts to the other,
/// they are equal, since what is cut off would not fit.
Value sizeBeforeCut(Value size);
OpFoldResult minSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
OpFoldResult maxSizes(OpBuilder &b, Location loc, OpFoldResult x,
                      OpFoldResult y);
/// The product of all, known ones last.
OpFoldResult productOf(OpBuilder &b, Location loc,
                       ArrayRef<OpFoldResult> sizes);

/// The shape of a type of these sizes, and the values of those that are open.
SmallVector<int64_t> staticShape(ArrayRef<OpFoldResult> sizes);
SmallVector<Value> dynamicSizes(ArrayRef<OpFoldResult> sizes);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_SHAPES_H
