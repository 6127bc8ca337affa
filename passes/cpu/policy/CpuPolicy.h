//===- CpuPolicy.h - answers for CPUs ---------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_CPUPOLICY_H
#define INGOT_PASSES_CPU_POLICY_CPUPOLICY_H

#include "passes/backend/Policy.h"

namespace ingot::cpu {

/// Answers for all levels of the module together, because shared phases serve
/// all levels.
class CpuPolicy : public Policy {
public:
  Answer<bool> multiplyInt8(mlir::Operation *product,
                            const Int8Candidate &candidate) const override;
  Answer<bool> multiplyDynamicBytes(mlir::Operation *product) const override;
  Answer<bool> multiplyBytesInLoop(mlir::Operation *product, int64_t weights,
                                   int64_t numLoops) const override;
  Answer<bool> multiplyBytesAsFloats(nn::ConvOp product) const override;
  Answer<bool> multiplyGroupsAsFloats(llvm::ArrayRef<int64_t> weights,
                                      int64_t groups) const override;
  Answer<bool> multiplyComputedBytes(nn::MatMulOp product) const override;
  Answer<bool> fuseByteAttention(mlir::Operation *op, mlir::RankedTensorType q,
                                 mlir::RankedTensorType k,
                                 mlir::RankedTensorType v) const override;
  Answer<bool> multiplyInt16(mlir::Operation *product,
                             OptimizeFor goal) const override;
  HalfPrecisionForm halfPrecisionForm(mlir::Operation *op,
                                      Precision asked) const override;
  bool prefersBF16(mlir::Operation *op) const override;
  Answer<bool> multiplyBF16(mlir::Operation *product) const override;
  Answer<bool> storeF16Weights(mlir::Operation *product,
                               int64_t allWeights) const override;
  Answer<bool> multiplyF16(mlir::Operation *product) const override;
  Answer<Layout> layOut(mlir::Operation *op) const override;
  Answer<bool> multiplyPatches(nn::ConvOp product) const override;
  Answer<std::optional<int64_t>>
  fitPairs(mlir::Operation *product) const override;
  Answer<bool> packWeights(nn::MatMulOp product,
                           const PackCandidate &candidate) const override;
  Answer<bool> unpackWeights(nn::PackedMatMulOp product, int64_t allWeights,
                             OptimizeFor goal) const override;
  Answer<bool> packWeightsInLoop(nn::MatMulOp product,
                                 int64_t weights) const override;
  Answer<bool> packTable(nn::GatherOp op) const override;
  Answer<bool> roundRows(nn::PackedMatMulOp product) const override;
  Answer<bool> padChannels(nn::ConvOp product) const override;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_CPUPOLICY_H
