//===- ComputedShape.h - shapes computed at run time ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CORE_COMPUTEDSHAPE_H
#define INGOT_PASSES_LEGALIZE_CORE_COMPUTEDSHAPE_H

#include "passes/legalize/core/Helpers.h"

#include "llvm/ADT/SmallBitVector.h"

namespace ingot::legalize {

/// Reports a known element of a Reshape's shape that is invalid.
LogicalResult checkKnownShape(Node &node, ArrayRef<OpFoldResult> shape,
                              bool allowZero);

/// Replaces 0 and -1 in the shape for x by the rules of Reshape. The run fails
/// if the shape's number of elements is not that of x.
void completeSizes(Node &node, Value x, Sizes &sizes, bool allowZero);

/// Requires at run time that element `d` of a computed shape is not 0. A 0
/// would copy a dimension of the data. Other sizes were derived under the
/// assumption that no dimension is copied. A 0 is allowed if dimension d of the
/// data, in sizes `own`, is 0 as well.
void requireNotCopied(Node &node, ArrayRef<OpFoldResult> own, size_t d,
                      mlir::Value size);

/// The size for a -1 in a shape: `total`, the product of `factors`, divided by
/// `known`.
struct RestOfSizes {
  Sizes factors;
  OpFoldResult total, known;
};

/// Computes the size for the -1 at index `rest` of a shape for x. Both products
/// leave out the sizes that the shape and x have in common. The division
/// therefore works even if a common size is 0.
RestOfSizes restOfSizes(Node &node, Value x, ArrayRef<OpFoldResult> sizes,
                        size_t rest, const llvm::SmallBitVector &isKept);

/// Requires at run time that `known`, the product of sizes beside a -1, is
/// positive.
void requireRest(Node &node, OpFoldResult known);

/// Requires at run time that `sizes` have as many elements as `x`. Adds no
/// check if this is known at compile time.
void requireCount(Node &node, Value x, ArrayRef<OpFoldResult> sizes);

/// Legalizes Squeeze and Unsqueeze with computed axes in input 1.
LogicalResult squeezeComputed(Node &node);
LogicalResult unsqueezeComputed(Node &node);

/// Legalizes Range: start + i delta for each i, in any type.
LogicalResult legalizeRange(Node &node);

/// Requires at run time that `number`, a tensor of rank 0, is in [least, most]
/// and not NaN. `name` names the tensor in the message.
void requireNumber(Node &node, Value number, int64_t least, int64_t most,
                   const llvm::Twine &name);

/// Returns the negation of a condition.
Value isNot(Indices i, Value condition);

/// Requires at run time that a computed axis is in [-rank, rank).
void requireAxis(Node &node, mlir::Value axis, int64_t rank);

/// Returns an element for each dimension: that of `values` if the axis at the
/// same position names the dimension, else that of `otherwise`. Axes may be
/// negative.
Sizes scatterByAxis(Node &node, ArrayRef<OpFoldResult> axes,
                    ArrayRef<OpFoldResult> values,
                    ArrayRef<OpFoldResult> otherwise);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_COMPUTEDSHAPE_H
