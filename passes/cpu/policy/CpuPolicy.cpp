//===- CpuPolicy.cpp - answers for CPUs -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/CpuPolicy.h"

#include "passes/cpu/policy/Costs.h"
#include "passes/cpu/policy/FloatProducts.h"
#include "passes/cpu/policy/HalfPrecision.h"
#include "passes/cpu/policy/Int8Products.h"
#include "passes/cpu/policy/Layouts.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/cpu/policy/PackedWeights.h"
#include "passes/cpu/policy/SmallGroups.h"
#include "passes/cpu/policy/WinogradCost.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Adds the estimates of `op` in f32 and in another form, if they have a
/// reader.
static Answer<bool> withCosts(Answer<bool> answer, Operation *op, Form form) {
  if (isRecorded(op))
    answer.alternatives = weigh(op, {Form::f32, form});
  return answer;
}

Answer<bool> CpuPolicy::multiplyInt8(Operation *product,
                                     const Int8Candidate &candidate) const {
  return withCosts(isForInt8(product, candidate), product, Form::int8);
}

Answer<bool> CpuPolicy::multiplyDynamicBytes(Operation *product) const {
  return withCosts(isForDynamicInt8(product), product, Form::dynamicInt8);
}

Answer<bool> CpuPolicy::multiplyBytesInLoop(Operation *product, int64_t weights,
                                            int64_t numLoops) const {
  return withCosts(isLoopForInt8(product, weights, numLoops), product,
                   Form::dynamicInt8);
}

Answer<bool> CpuPolicy::multiplyBytesAsFloats(nn::ConvOp product) const {
  if (Reason reason = whyBytesAsFloats(product))
    return {true, *reason};
  return {false, "has enough channels for products of four bytes"};
}

Answer<bool> CpuPolicy::multiplyGroupsAsFloats(ArrayRef<int64_t> weights,
                                               int64_t groups) const {
  if (areSmallGroups(weights, groups))
    return {true, kSmallGroups};
  return {false, "has enough channels in each group"};
}

Answer<bool> CpuPolicy::multiplyComputedBytes(nn::MatMulOp product) const {
  return isForComputedBytes(product);
}

Answer<bool> CpuPolicy::fuseByteAttention(Operation *, RankedTensorType q,
                                          RankedTensorType k,
                                          RankedTensorType v) const {
  return isForByteAttention(q, k, v);
}

Answer<bool> CpuPolicy::multiplyInt16(Operation *product,
                                      OptimizeFor goal) const {
  return isForInt16(product, goal);
}

HalfPrecisionForm CpuPolicy::halfPrecisionForm(Operation *op,
                                               Precision asked) const {
  if (asked == Precision::bf16 && someMultiplyBF16(op))
    return HalfPrecisionForm::bf16;
  return addsF16Sums(op, asked) ? HalfPrecisionForm::f16
                                : HalfPrecisionForm::f16Weights;
}

bool CpuPolicy::prefersBF16(Operation *op) const { return allMultiplyBF16(op); }

Answer<bool> CpuPolicy::multiplyBF16(Operation *product) const {
  return withCosts(isForBF16(product), product, Form::bf16);
}

Answer<bool> CpuPolicy::storeF16Weights(Operation *product,
                                        int64_t allWeights) const {
  return withCosts(isForF16Weights(product, allWeights), product,
                   Form::f16Weights);
}

Answer<bool> CpuPolicy::multiplyF16(Operation *product) const {
  return withCosts(isForF16(product), product, Form::f16);
}

Answer<Layout> CpuPolicy::layOut(Operation *op) const {
  Answer<Layout> answer = chooseLayout(op);
  if (isRecorded(op))
    answer.alternatives = weighLayouts(op);
  return answer;
}

Answer<bool> CpuPolicy::multiplyPatches(nn::ConvOp product) const {
  Answer<bool> answer = isForPatches(product);
  if (isRecorded(product))
    answer.alternatives = weighPatches(product);
  return answer;
}

Answer<std::optional<int64_t>> CpuPolicy::fitPairs(Operation *product) const {
  return findPairedAxis(product);
}

Answer<bool> CpuPolicy::packWeights(nn::MatMulOp product,
                                    const PackCandidate &candidate) const {
  Answer<bool> answer = isForPackedWeights(product, candidate);
  if (isRecorded(product))
    answer.alternatives = weighPackedWeights(product, candidate.bits);
  return answer;
}

Answer<bool> CpuPolicy::unpackWeights(nn::PackedMatMulOp product,
                                      int64_t allWeights,
                                      OptimizeFor goal) const {
  return isForUnpackedWeights(product, allWeights, goal);
}

Answer<bool> CpuPolicy::packWeightsInLoop(nn::MatMulOp product,
                                          int64_t weights) const {
  return isLoopForPackedWeights(product, weights);
}

Answer<bool> CpuPolicy::packTable(nn::GatherOp op) const {
  Answer<bool> answer = isForPackedTable(op);
  if (isRecorded(op))
    answer.alternatives = weighTables(op);
  return answer;
}

Answer<bool> CpuPolicy::roundRows(nn::PackedMatMulOp product) const {
  return withCosts(isForRoundedRows(product), product, Form::dynamicInt8);
}

Answer<bool> CpuPolicy::padChannels(nn::ConvOp product) const {
  Answer<bool> answer = isForPadding(product);
  if (isRecorded(product))
    answer.alternatives = weighPadding(product);
  return answer;
}
