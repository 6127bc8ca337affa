//===- SplitReshape.h - groups of dimensions of a reshape -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SHAPE_SPLITRESHAPE_H
#define INGOT_PASSES_SHAPE_SPLITRESHAPE_H

#include "passes/shape/SameSizes.h"
#include "passes/support/ReshapeGroups.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot::shape {

/// Splits a reshape with dynamic sizes into the smallest groups with provably
/// equal numbers of elements. The search starts at the front and at the end;
/// the dimensions between form one group. If the tensor is empty, the sizes in
/// this group may differ.
llvm::SmallVector<support::ReshapeGroup>
splitReshape(const SameSizes &sizes, mlir::tensor::ReshapeOp op);

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_SPLITRESHAPE_H
