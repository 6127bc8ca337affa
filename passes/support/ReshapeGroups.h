//===- ReshapeGroups.h - what becomes what in a reshape ---------*- C++ -*-===//
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

/// Neighbouring operand dimensions that become neighbouring result dimensions
/// of a reshape; without any on one side, those of the other have one element.
struct ReshapeGroup {
  llvm::SmallVector<int64_t> from, to;
};

/// Splits a reshape into the smallest groups; nullopt if sizes are unknown
/// that it depends on.
std::optional<llvm::SmallVector<ReshapeGroup>>
splitReshape(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y);

/// `tensor` in another shape, whose dimensions `groups` gives in their order:
/// each is merged to one dimension, which is taken apart again. Null where both
/// would go through one dimension of all elements.
Value reshapeByGroups(OpBuilder &b, Location loc, Value tensor,
                      llvm::ArrayRef<OpFoldResult> sizes,
                      llvm::ArrayRef<ReshapeGroup> groups);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_RESHAPEGROUPS_H
