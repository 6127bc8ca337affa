//===- CudaPolicy.cpp - decisions for GPUs --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/policy/CudaPolicy.h"

#include "passes/cuda/lower/CudaSupport.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Returns true if a kernel computes `product`, with this reason.
static Answer<bool> haveKernel(Operation *product) {
  if (Reason reason = whyNotCudaKernel(product))
    return {false, *reason};
  return {true, "is computed by the matrix units"};
}

HalfPrecisionForm CudaPolicy::halfPrecisionForm(Operation *,
                                                Precision asked) const {
  return asked == Precision::bf16   ? HalfPrecisionForm::bf16
         : asked == Precision::tf32 ? HalfPrecisionForm::tf32
                                    : HalfPrecisionForm::f16;
}

Answer<bool> CudaPolicy::multiplyBF16(Operation *product) const {
  return haveKernel(product);
}

Answer<bool> CudaPolicy::multiplyTF32(Operation *product) const {
  return haveKernel(product);
}

Answer<bool> CudaPolicy::multiplyF16(Operation *product) const {
  return haveKernel(product);
}
