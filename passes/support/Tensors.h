//===- Tensors.h - building tensors of mixed static and dynamic sizes -----===//
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

/// An op's result type without signs.
template <typename Op>
RankedTensorType signless(const mlir::TypeConverter *converter, Op op) {
  return mlir::cast<RankedTensorType>(converter->convertType(op.getType()));
}

/// tensor.empty whose static sizes are those that are attributes.
Value empty(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
            Type elementType);
Value filled(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
             Value scalar);
/// tensor.empty as large as `tensor`.
Value emptyLike(OpBuilder &b, Location loc, Value tensor);
/// The sizes that an op's rules give its result: those of its type where that
/// knows them, else values from the op's operands.
Sizes resultSizes(OpBuilder &b, mlir::OpResult result);
/// tensor.empty for the result of an op, with the sizes that the op gives it.
Value destinationOf(OpBuilder &b, mlir::OpResult result);
/// The same for a result of another element type.
Value destinationOf(OpBuilder &b, mlir::OpResult result, Type element);
/// `tensor` as `type`, which differs in what is static only.
Value castTo(OpBuilder &b, Location loc, Value tensor, Type type);
/// The same elements in another shape; sizes has one dynamic size at most.
Value reshape(OpBuilder &b, Location loc, Value tensor,
              ArrayRef<OpFoldResult> sizes);
Value transpose(OpBuilder &b, Location loc, Value tensor,
                ArrayRef<int64_t> perm);
/// Borders of `scalar`; negative amounts crop.
Value pad(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> low,
          ArrayRef<int64_t> high, Value scalar);
/// `dest` with `source` at offsets, every `strides`-th element. The sizes may
/// know more than the source's type.
Value insert(OpBuilder &b, Location loc, Value source, Value dest,
             ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
             ArrayRef<OpFoldResult> strides);
/// A tensor whose element at `indices` is `body`'s.
Value generate(
    OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Type elementType,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange indices)> body);

/// A contraction: init plus products of elements of a and w, as the three maps
/// read them. The sum is of init's type.
Value contract(OpBuilder &b, Location loc, Value a, Value w, Value init,
               ArrayRef<mlir::AffineMap> maps,
               ArrayRef<mlir::utils::IteratorType> iterators);
/// What a sum starts from: zero, or the bias along result dims `biasDims`.
Value startSum(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
               Type type, Value bias, ArrayRef<int64_t> biasDims);
/// `tensor`, computed in a wider type, in `type`.
Value narrow(OpBuilder &b, Location loc, Value tensor, Type type);

/// An index from an element of an index tensor: counted from the end if it is
/// negative, and held within the dimension, so that no input leads outside.
Value safeIndex(OpBuilder &b, Location loc, Value element, Value size);

/// a + b, a b, max(a, b), min(a, b) of scalars; max and min pass NaN on.
Value addScalars(OpBuilder &b, Location loc, Value x, Value y);
Value mulScalars(OpBuilder &b, Location loc, Value x, Value y);
Value maxScalars(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned);
Value minScalars(OpBuilder &b, Location loc, Value x, Value y, bool isUnsigned);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_TENSORS_H
