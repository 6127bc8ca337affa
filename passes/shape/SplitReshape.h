//===- SplitReshape.h - what becomes what in open reshapes ------*- C++ -*-===//
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

/// Splits a reshape whose sizes a run computes into the smallest groups that
/// are known to have as many elements, from the front and from the end; what is
/// between them is one. (Without elements it need not have as many, but then
/// nothing has.)
llvm::SmallVector<support::ReshapeGroup>
splitReshape(const SameSizes &sizes, mlir::tensor::ReshapeOp op);

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_SPLITRESHAPE_H
