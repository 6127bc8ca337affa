//===- Costs.h - estimated time of products ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A roofline estimate of a product, in cycles of one core. The estimate is the
// larger of two times, plus the time to round the data. The first is the time
// of the multiply-adds at the core's rate. The second is the time to read, at
// the rate of memory, the bytes that the second-level cache does not hold.
// Moving an element to another place takes a number of cycles.
//
// The estimates only explain a decision to its reader. They leave out padding,
// tails of vectors and the layout of data, and can rank two alternatives
// wrongly. The decisions come from the rules of this folder, with measured
// numbers (Thresholds.inc). The reason of an answer names the rule that
// decided.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_COSTS_H
#define INGOT_PASSES_CPU_POLICY_COSTS_H

#include "passes/backend/Policy.h"

namespace ingot::cpu {

/// The forms in which a product is multiplied.
enum class Form {
  f32,
  /// Bytes with a known range.
  int8,
  /// Bytes whose range each run determines.
  dynamicInt8,
  bf16,
  f16,
  /// f32 by weights that are stored as f16.
  f16Weights
};

/// Returns the name of a form in a decision.
llvm::StringRef nameOf(Form form);

/// The counts of multiplications and elements of a product.
struct ProductSize {
  int64_t products, weights, data, results;
  /// The bits of a packed weight. If 0, a weight has the bits of the form.
  int64_t packedBits = 0;

  /// Returns the size of a convolution or a matrix product. Returns nullopt if
  /// it has open sizes or is another op.
  static std::optional<ProductSize> of(mlir::Operation *op);
};

/// Estimates the cycles of a run on one core of `target`. Returns -1 if the
/// core has no instructions for the form.
int64_t estimateCycles(const ProductSize &size, Form form,
                       const TargetInfo &target);

/// Returns the forms with their estimates for the lowest sure level. Open sizes
/// have no estimates.
llvm::SmallVector<Alternative, 3> weigh(mlir::Operation *op,
                                        llvm::ArrayRef<Form> forms);

/// Returns the estimates of `product` with weights of f32, and of `bits` bits.
/// The second is called "int4" for 4 bits.
llvm::SmallVector<Alternative, 3> weighPackedWeights(nn::MatMulOp product,
                                                     int64_t bits);

/// Returns the estimates of reading a row of the table of `op` as f32 and as
/// int8, for all rows that `op` picks.
llvm::SmallVector<Alternative, 3> weighTables(nn::GatherOp op);

/// Returns the estimates of a convolution with its channels last and first. Has
/// none for other ops.
llvm::SmallVector<Alternative, 3> weighLayouts(mlir::Operation *op);

/// Returns the estimates of a convolution whose windows do not overlap, as it
/// is and as a product of its patches.
llvm::SmallVector<Alternative, 3> weighPatches(nn::ConvOp product);

/// Returns the estimates of a convolution of bytes with its channels as they
/// are, and with whole groups of channels.
llvm::SmallVector<Alternative, 3> weighPadding(nn::ConvOp product);

/// Returns the estimates of `kernel`, an op of the `cpu` dialect. Its weights
/// have the form called `form`, or are brought into this form in each run. Has
/// none if a run computes the weights.
llvm::SmallVector<Alternative, 3> weighPacking(mlir::Operation *kernel,
                                               llvm::StringRef form);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_COSTS_H
