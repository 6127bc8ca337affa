//===- ReshapeGroups.h - groups of dimensions of a reshape ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RESHAPEGROUPS_H
#define INGOT_PASSES_SUPPORT_RESHAPEGROUPS_H

#include "passes/support/Lowering.h"

#include "mlir/IR/BuiltinTypes.h"

namespace ingot::support {

/// Neighbouring operand dimensions that a reshape turns into neighbouring
/// result dimensions. If one side is empty, the dimensions of the other side
/// have size 1.
struct ReshapeGroup {
  llvm::SmallVector<int64_t> from, to;
};

/// Splits a reshape into the smallest groups. Returns nullopt if the groups
/// depend on dynamic sizes.
std::optional<llvm::SmallVector<ReshapeGroup>>
splitReshape(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y);

/// Returns groups that join dimension `first` and all dimensions behind it.
llvm::SmallVector<mlir::ReassociationIndices> groupsFrom(int64_t rank,
                                                         int64_t first);

/// Reshapes `tensor` to `sizes`. Each of `groups`, which are in order, is
/// collapsed to one dimension and expanded again. Returns null if this would
/// collapse all dimensions to one.
Value reshapeByGroups(OpBuilder &b, Location loc, Value tensor,
                      llvm::ArrayRef<OpFoldResult> sizes,
                      llvm::ArrayRef<ReshapeGroup> groups);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_RESHAPEGROUPS_H
