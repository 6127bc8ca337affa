//===- CudaPolicy.h - decisions for GPUs ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_POLICY_CUDAPOLICY_H
#define INGOT_PASSES_CUDA_POLICY_CUDAPOLICY_H

#include "passes/backend/Policy.h"

namespace ingot::cuda {

/// The policy of GPUs from sm_80 on. Their matrix units multiply f16, bf16 and
/// tf32 much faster than f32. So every product with a kernel is computed in the
/// type that the user asks for.
class CudaPolicy : public Policy {
public:
  HalfPrecisionForm halfPrecisionForm(mlir::Operation *op,
                                      Precision asked) const override;
  Answer<bool> multiplyBF16(mlir::Operation *product) const override;
  Answer<bool> multiplyTF32(mlir::Operation *product) const override;
  Answer<bool> multiplyF16(mlir::Operation *product) const override;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_POLICY_CUDAPOLICY_H
