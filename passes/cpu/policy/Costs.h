//===- Costs.h - estimated time of products ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A roofline estimate of a product, in cycles of one core. It is the larger of
// two times: multiply-adds at the core's rate, and bytes that the second-level
// cache does not hold at the rate of memory. The time to round the data is
// added.
//
// The estimates are for the reader of a decision. They do not decide: they
// leave out padding, tails of vectors and the layout of data, and can rank two
// alternatives the wrong way round. The rules of this folder decide, with
// numbers that were measured (Thresholds.inc). The reason of an answer says
// which rule did.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_COSTS_H
#define INGOT_PASSES_CPU_POLICY_COSTS_H

#include "passes/backend/Policy.h"

namespace ingot::cpu {

/// The forms in which a product is multiplied.
enum class Form {
  f32,
  /// Bytes of a range that is known.
  int8,
  /// Bytes of a range that each run finds.
  dynamicInt8,
  bf16,
  f16,
  /// f32 by weights that are stored as f16.
  f16Weights
};

/// The name of a form in a decision.
llvm::StringRef nameOf(Form form);

/// The numbers that a product multiplies and reads.
struct ProductSize {
  int64_t products, weights, data, results;
  /// The bits of a packed weight; 0: those of the form.
  int64_t packedBits = 0;

  /// The size of a convolution or of a matrix product; nullopt if it has open
  /// sizes or is another op.
  static std::optional<ProductSize> of(mlir::Operation *op);
};

/// Estimates cycles of one run on one core of `target`; -1 if the core has no
/// instructions for the form.
int64_t estimateCycles(const ProductSize &size, Form form,
                       const TargetInfo &target);

/// The forms with their estimates for the lowest level that is sure; without
/// cycles where sizes are open.
llvm::SmallVector<Alternative, 3> weigh(mlir::Operation *op,
                                        llvm::ArrayRef<Form> forms);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_COSTS_H
