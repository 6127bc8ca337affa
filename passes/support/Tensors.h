//===- Tensors.h - building tensor ops --------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_TENSORS_H
#define INGOT_PASSES_SUPPORT_TENSORS_H

#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace ingot::support {

using mlir::RankedTensorType;
using mlir::Type;
using mlir::ValueRange;

/// Returns the op's result type with signless integers.
template <typename Op>
RankedTensorType signless(const mlir::TypeConverter *converter, Op op) {
  return mlir::cast<RankedTensorType>(converter->convertType(op.getType()));
}

/// Creates a tensor.empty. Sizes that are attributes are static.
Value empty(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
            Type elementType);
Value filled(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
             Value scalar);
/// Creates a tensor.empty with the sizes of `tensor`.
Value emptyLike(OpBuilder &b, Location loc, Value tensor);
/// Returns the sizes of an op's result by the op's rules: constants if the type
/// has them, else values computed from the operands.
Sizes resultSizes(OpBuilder &b, mlir::OpResult result);
/// Creates a tensor.empty for the result of an op.
Value destinationOf(OpBuilder &b, mlir::OpResult result);
/// Creates a tensor.empty for the result of an op, with another element type.
Value destinationOf(OpBuilder &b, mlir::OpResult result, Type element);
/// Casts `tensor` to `type`. The two types may differ only in which sizes are
/// static.
Value castTo(OpBuilder &b, Location loc, Value tensor, Type type);
/// Casts the elements of `tensor` to `element`, which has no sign.
Value castElements(OpBuilder &b, Location loc, Value tensor, Type element);
/// Expands a vector along the last of `rank` dimensions.
Value expandVector(OpBuilder &b, Value vector, int64_t rank);
/// Reshapes a tensor to `sizes`. At most one size is dynamic.
Value reshape(OpBuilder &b, Location loc, Value tensor,
              ArrayRef<OpFoldResult> sizes);
Value transpose(OpBuilder &b, Location loc, Value tensor,
                ArrayRef<int64_t> perm);
/// Pads a tensor with `scalar`. Negative amounts crop.
Value pad(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> low,
          ArrayRef<int64_t> high, Value scalar);
/// A part of a tensor.
struct TensorPart {
  ArrayRef<OpFoldResult> offsets, sizes, strides;
};
/// Inserts `source` into `dest` as its part `part`. More sizes may be static
/// than in the source's type.
Value insert(OpBuilder &b, Location loc, Value source, Value dest,
             const TensorPart &part);
/// Creates a tensor whose element at `indices` is computed by `body`.
Value generate(
    OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Type elementType,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange indices)> body);

/// Creates a contraction: `init` plus products of elements of two factors,
/// indexed by the three maps. The sum has the type of `init`.
Value contract(OpBuilder &b, Location loc, mlir::ValueRange factors, Value init,
               ArrayRef<mlir::AffineMap> maps,
               ArrayRef<mlir::utils::IteratorType> iterators);
/// Returns the initial value of a sum: zeros, or the bias along result dims
/// `biasDims`.
Value startSum(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
               Type type, Value bias, ArrayRef<int64_t> biasDims);
/// Converts `tensor`, which was computed in a wider type, to `type`.
Value narrow(OpBuilder &b, Location loc, Value tensor, Type type);

/// Returns an index from an element of an index tensor. A negative element
/// counts from the end. The index is clamped to the dimension, so that no input
/// leads to an access out of bounds.
Value safeIndex(OpBuilder &b, Location loc, Value element, Value size);

/// Creates a + b, a b, max(a, b) or min(a, b) of scalars. max and min propagate
/// NaN.
Value addScalars(OpBuilder &b, Location loc, Value x, Value y);
Value mulScalars(OpBuilder &b, Location loc, Value x, Value y);
Value maxScalars(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned);
Value minScalars(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_TENSORS_H
