//===- CudaReductions.cpp - reductions and poolings -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaVerify.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  ArrayRef<int64_t> src = typeOf(getSrc()).getShape(),
                    dst = typeOf(getDst()).getShape();
  if (src.size() < 2)
    return emitOpError("expects src of rank 2 or more");
  if (dst.size() + 1 != src.size() || dst.drop_back() != src.drop_back(2) ||
      dst.back() != src.back())
    return emitOpError("expects dst with the sizes of src without the last "
                       "but one");
  if (failed(expectKnown(*this, "columns", src.take_back())))
    return failure();
  return verifyRows(*this,
                    {src[src.size() - 2], src.back(), /*areColumns=*/true});
}

static int64_t countTaps(PoolOp op) {
  int64_t count = 1;
  for (int64_t taps : op.getTaps())
    count *= taps;
  return count;
}

LogicalResult PoolOp::verify() {
  ArrayRef<int64_t> src = typeOf(getSrc()).getShape(),
                    dst = typeOf(getDst()).getShape();
  if (src.size() < 3 || src.size() > 5 || dst.size() != src.size())
    return emitOpError("expects src and dst of one rank of 3 to 5");
  if (failed(expectKnown(*this, "channels", src.take_back())) ||
      failed(expectKnown(*this, "channels", dst.take_back())) ||
      failed(expectSize(*this, "channels", src.back(), dst.back())) ||
      failed(expectCount(*this, "taps", getTaps(), int64_t(src.size()) - 2)) ||
      failed(verifyWindows(*this, src, dst)))
    return failure();
  return verifyRows(*this, {countTaps(*this), src.back(), /*areColumns=*/true});
}

//===----------------------------------------------------------------------===//
// Effects and work
//===----------------------------------------------------------------------===//

void ReduceOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void PoolOp::getEffects(Effects &effects) { collectEffects(*this, effects); }

KernelClass ReduceOp::getKernelClass() { return KernelClass::reduction; }
KernelClass PoolOp::getKernelClass() { return KernelClass::other; }

StringRef ReduceOp::getKernelKind() { return "reduction"; }
StringRef PoolOp::getKernelKind() { return "pooling"; }

Work ReduceOp::getWork() { return workPerElement(getSrc(), {1}); }
Work PoolOp::getWork() { return workPerElement(getDst(), {countTaps(*this)}); }
