//===- CudaResample.cpp - resampling --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaVerify.h"
#include "dialects/kernel/ResampleVerify.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

LogicalResult ResampleOp::verify() {
  if (failed(verifyResample(*this)))
    return failure();
  for (Value positions : getPositions())
    if (!getElementTypeOrSelf(positions).isInteger(32))
      return emitOpError("expects positions of i32, but got ")
             << getElementTypeOrSelf(positions);
  for (Value weights : getWeights())
    if (!getElementTypeOrSelf(weights).isF32())
      return emitOpError("expects weights of f32, but got ")
             << getElementTypeOrSelf(weights);
  if (auto schedule = getSchedule();
      schedule && (schedule->getThreads() != 1 || schedule->getHeld() != 0))
    return emitOpError("expects one thread for a row, which holds no vectors");
  const int64_t channels =
      hasChannels() ? typeOf(getDst()).getShape().back() : 1;
  return verifyRows(*this, {/*length=*/1,
                            ShapedType::isDynamic(channels) ? 1 : channels,
                            /*areColumns=*/true});
}

void ResampleOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
KernelClass ResampleOp::getKernelClass() { return KernelClass::other; }
StringRef ResampleOp::getKernelKind() { return "resampling"; }
Work ResampleOp::getWork() {
  return workPerElement(getDst(), {numOperations()});
}
