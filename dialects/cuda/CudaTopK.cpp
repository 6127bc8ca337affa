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
  Type element = getElementTypeOrSelf(getSrc());
  const bool isFloat =
      isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
  if (element != getElementTypeOrSelf(getValues()) ||
      !(isFloat || isa<IntegerType>(element)) ||
      !getElementTypeOrSelf(getIndices()).isSignlessInteger(64))
    return emitOpError("expects src and values of one type, of integers or of "
                       "floats of 16 bits or more, and indices of i64");
  ArrayRef<int64_t> src = typeOf(getSrc()).getShape(),
                    values = typeOf(getValues()).getShape();
  if (values != typeOf(getIndices()).getShape())
    return emitOpError("expects values and indices of one shape");
  if (failed(expectSize(*this, "rows", src[0], values[0])))
    return failure();
  if (ShapedType::isDynamic(values[1]) != getMost().has_value())
    return emitOpError("expects most if the number of results is open, and "
                       "only then");
  const int64_t most =
      ShapedType::isDynamic(src[1]) ? kMaxK : std::min(src[1], kMaxK);
  if (mostResults() < 1 || mostResults() > most)
    return emitOpError("expects 1 to ")
           << most << " results of a row, but got " << mostResults();
  return success();
}

int64_t TopKOp::mostResults() {
  return getMost().value_or(typeOf(getValues()).getShape()[1]);
}

void TopKOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
StringRef TopKOp::getKernelKind() { return "top k"; }

/// Sorting takes about log² L comparisons for each element.
Work TopKOp::getWork() {
  constexpr int64_t kUsualLength = 1024;
  const int64_t length = typeOf(getSrc()).getShape()[1];
  const int64_t log =
      llvm::Log2_64_Ceil(
          uint64_t(ShapedType::isDynamic(length) ? kUsualLength : length)) +
      1;
  return workPerElement(getSrc(), {log * log});
}
