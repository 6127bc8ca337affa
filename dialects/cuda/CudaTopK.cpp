//===- CudaTopK.cpp - the best elements of rows ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/Verify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

LogicalResult TopKOp::verify() {
  for (Value value : getOperands())
    if (failed(expectRank(*this, "each operand", value, 2)))
      return failure();
  if (!getElementTypeOrSelf(getSrc()).isF32() ||
      !getElementTypeOrSelf(getValues()).isF32() ||
      !getElementTypeOrSelf(getIndices()).isSignlessInteger(64))
    return emitOpError("expects src and values of f32, and indices of i64");
  ArrayRef<int64_t> src = typeOf(getSrc()).getShape(),
                    values = typeOf(getValues()).getShape();
  if (values != typeOf(getIndices()).getShape())
    return emitOpError("expects values and indices of one shape");
  if (failed(expectSize(*this, "rows", src[0], values[0])) ||
      failed(expectKnown(*this, "a row", {src[1], values[1]})))
    return failure();
  if (values[1] < 1 || values[1] > std::min(src[1], kMaxK))
    return emitOpError("expects 1 to ")
           << std::min(src[1], kMaxK) << " results of a row, but got "
           << values[1];
  return success();
}

void TopKOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
StringRef TopKOp::getKernelKind() { return "top k"; }

/// Sorting takes about log² L comparisons for each element.
Work TopKOp::getWork() {
  const int64_t log =
      llvm::Log2_64_Ceil(uint64_t(typeOf(getSrc()).getShape()[1])) + 1;
  return workPerElement(getSrc(), {log * log});
}
