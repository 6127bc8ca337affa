//===- Int8Products.h - products of bytes -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answers of CpuPolicy to questions about bytes, without estimates.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_INT8PRODUCTS_H
#define INGOT_PASSES_CPU_POLICY_INT8PRODUCTS_H

#include "passes/backend/Policy.h"

namespace ingot::cpu {

Answer<bool> isForInt8(mlir::Operation *product,
                       const Int8Candidate &candidate);

/// Returns true if bytes save more time than finding a range and rounding cost.
Answer<bool> isForDynamicInt8(mlir::Operation *product);
/// Returns true if a loop whose products in int8 have these weights is faster
/// than one kernel of floats for all steps. `numLoops` loops are independent.
Answer<bool> isLoopForInt8(mlir::Operation *product, int64_t weights,
                           int64_t numLoops);

/// Returns true if a product of two computed factors of bytes pays for packing
/// the right one.
Answer<bool> isForComputedBytes(nn::MatMulOp product);

/// Returns true if the kernel of attention takes bytes of these types, and is
/// faster than separate products.
Answer<bool> isForByteAttention(mlir::RankedTensorType q,
                                mlir::RankedTensorType k,
                                mlir::RankedTensorType v);

/// Returns true if zeros are to fill groups of four channels of bytes.
Answer<bool> isForPadding(nn::ConvOp conv);

/// Returns the dimension along which weights are to be fitted in pairs.
Answer<std::optional<int64_t>> findPairedAxis(mlir::Operation *product);

/// Returns true if rows are to be rounded to bytes.
Answer<bool> isForRoundedRows(nn::PackedMatMulOp product);

/// Returns true if rows of f32 are to be split into three bytes for each
/// element, as a fixed point of 24 bits. It is as exact as sums of f32.
Answer<bool> isForSplitRows(nn::PackedMatMulOp product);
/// Returns the elements of a row that share a scale when they are split. It
/// divides the block size of the weights if they have several blocks.
int64_t splitBlockOf(nn::PackedMatMulOp product);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_INT8PRODUCTS_H
