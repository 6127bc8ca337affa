//===- ComputedShape.h - shapes that only a run knows ---------------------===//
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

/// Reports an element of a Reshape's shape that is known and cannot be.
LogicalResult checkKnownShape(Node &node, ArrayRef<OpFoldResult> shape,
                              bool allowZero);

/// Resolves 0 and -1 among the elements of a shape for x, as Reshape has them.
/// A shape of another number of elements ends the run.
void completeSizes(Node &node, Value x, Sizes &sizes, bool allowZero);

/// A size that turns out to be 0 asks for a copy, too, which the sizes that
/// were derived from it do not know: ends the run if element `d` of a shape is
/// one, unless that is dimension d of data of sizes `own`.
void requireNotCopied(Node &node, ArrayRef<OpFoldResult> own, size_t d,
                      mlir::Value size);

/// What a -1 at `rest` of a shape for x is: `total` by `known`, of which both
/// are without the sizes that the shape and x have in common. So an empty
/// dimension that both have decides as much as any other. Returns the factors
/// of `total`.
Sizes restOfSizes(Node &node, Value x, ArrayRef<OpFoldResult> sizes,
                  size_t rest, const llvm::SmallBitVector &isKept,
                  OpFoldResult &total, OpFoldResult &known);

/// Ends the run unless a -1 is decided beside sizes whose product is `known`.
void requireRest(Node &node, OpFoldResult known);

/// Ends the run where `sizes` have not as many elements as `x`, if that is not
/// plain to see.
void requireCount(Node &node, Value x, ArrayRef<OpFoldResult> sizes);

/// Squeeze and Unsqueeze whose axes, in input 1, are computed.
LogicalResult squeezeComputed(Node &node);
LogicalResult unsqueezeComputed(Node &node);

/// Range: start + i delta for each i, in any type.
LogicalResult legalizeRange(Node &node);

/// Ends the run unless the element of `number`, a tensor of rank 0 that `name`
/// names, is within [least, most]. NaN is not.
void requireNumber(Node &node, Value number, int64_t least, int64_t most,
                   const llvm::Twine &name);

/// Returns the negation of a condition.
Value isNot(Indices i, Value condition);

/// Requires of an axis that a run computes that it names one of `rank`
/// dimensions, counted from the front or, negative, from the end.
void requireAxis(Node &node, mlir::Value axis, int64_t rank);

/// For each of `rank` dimensions the element of `values` whose axis names it,
/// else `otherwise`; axes may be negative.
Sizes scatterByAxis(Node &node, ArrayRef<OpFoldResult> axes,
                    ArrayRef<OpFoldResult> values,
                    ArrayRef<OpFoldResult> otherwise);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_COMPUTEDSHAPE_H
