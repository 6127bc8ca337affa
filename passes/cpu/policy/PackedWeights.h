//===- PackedWeights.h - weights of few bits --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answers of CpuPolicy to questions about weights and tables of few bits,
// without estimates.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_PACKEDWEIGHTS_H
#define INGOT_PASSES_CPU_POLICY_PACKEDWEIGHTS_H

#include "passes/backend/Policy.h"

namespace ingot::cpu {

/// Returns true if reading packed weights saves more time than unpacking them
/// takes. This holds if no cache has the weights as floats, and if few rows
/// wait for them. With many more weights, it also holds for many rows.
Answer<bool> isForPackedWeights(nn::MatMulOp product,
                                const PackCandidate &candidate);

/// Returns true if unpacking the weights of several rows takes longer than
/// reading them as floats, and floats do not take much space. `allWeights` is
/// the number of weights of few bits in the module.
Answer<bool> isForUnpackedWeights(nn::PackedMatMulOp product,
                                  int64_t allWeights, OptimizeFor goal);

/// Returns true if the second-level cache does not hold the `weights` floats of
/// the loop around `product` from one step to the next.
Answer<bool> isLoopForPackedWeights(nn::MatMulOp product, int64_t weights);

/// Returns true if a table of bytes saves more time than converting its rows
/// takes.
Answer<bool> isForPackedTable(nn::GatherOp op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_PACKEDWEIGHTS_H
