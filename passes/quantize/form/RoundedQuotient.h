//===- RoundedQuotient.h - round(x / scale) ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_ROUNDEDQUOTIENT_H
#define INGOT_PASSES_QUANTIZE_FORM_ROUNDEDQUOTIENT_H

#include "dialects/nn/NNDialect.h"

#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace ingot::quantize {

/// A division by one positive constant whose quotient is rounded.
struct RoundedQuotient {
  /// The saturation between the division and the rounding, or null.
  nn::ClampOp clamp;
  nn::DivOp division;
  double scale;

  /// Returns the quotient that `round` rounds. f32 holds the inverse of its
  /// scale.
  static std::optional<RoundedQuotient> find(nn::RoundOp round);
};

/// Returns true if `number` times `factor` loses no precision in f32.
bool holdsProduct(double number, double factor);

/// Merges a saturation with the activation's clamp that computes its operand,
/// if there is one.
void mergeClamps(mlir::RewriterBase &rewriter, nn::ClampOp op);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_FORM_ROUNDEDQUOTIENT_H
