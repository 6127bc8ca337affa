//===- RequireIndices.h - indices that a run brings -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_REQUIREINDICES_H
#define INGOT_PASSES_LOOPS_REQUIREINDICES_H

#include "passes/support/Tensors.h"

namespace ingot::lower {

/// Requires of each element of `indices` that it names one of `size` positions,
/// counted from the front or, negative, from the end. Several sizes are those
/// of the coordinates along the last dimension of `indices`.
void requireIndices(OpBuilder &b, Location loc, Value indices,
                    ArrayRef<OpFoldResult> sizes);

} // namespace ingot::lower

#endif // INGOT_PASSES_LOOPS_REQUIREINDICES_H
