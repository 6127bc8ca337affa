//===- CudaScan.cpp - running sums ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/Verify.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

LogicalResult ScanOp::verify() {
  if (failed(expectRank(*this, "src", getSrc(), 3)) ||
      failed(expectRank(*this, "dst", getDst(), 3)))
    return failure();
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  for (auto [want, got] : llvm::zip_equal(src.getShape(), dst.getShape()))
    if (failed(expectSize(*this, "a dimension", want, got)))
      return failure();
  Type element = src.getElementType();
  const bool isFloat =
      isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
  if (element != dst.getElementType() ||
      !(isa<IntegerType>(element) || isFloat))
    return emitOpError("expects src and dst of one type, of integers or of "
                       "floats of 16 bits or more");
  return verifyDst(*this, getDst());
}

void ScanOp::getEffects(Effects &effects) { collectEffects(*this, effects); }

Work ScanOp::getWork() { return workPerElement(getSrc(), {1}); }
