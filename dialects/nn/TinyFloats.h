//===- TinyFloats.h - floats of eight bits or less --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts floats of at most eight bits, which no CPU computes with. In memory,
// such a float is a code: its bits in a byte. Readers convert the code to f32
// or f64. Writers round to a code.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_TINYFLOATS_H
#define INGOT_DIALECTS_NN_TINYFLOATS_H

#include "mlir/IR/Builders.h"

namespace ingot::nn {

enum class RoundMode : uint32_t;

/// A format of ingot/abi/element_types.inc.
struct TinyFloat {
  /// The kind of codes that are not finite numbers.
  enum Ends { IEEE, FN, FNUZ, FINITE, SCALE };

  int exponentBits, fractionBits, bias;
  Ends ends;

  int magnitudeBits() const { return exponentBits + fractionBits; }
};

/// Returns the format of a type of at most eight bits, or nullopt for other
/// types.
std::optional<TinyFloat> tinyFloatOf(mlir::Type type);

/// Returns the exact value of `code`, an i8, as `type`: f32 or f64. The unused
/// bits of the byte may have any value.
mlir::Value decodeTiny(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value code, TinyFloat format,
                       mlir::FloatType type);

/// Returns the code, an i8, of `x`, an f32 or f64. Rounds to nearest, ties to
/// even; for SCALE formats, `mode` selects the rounding. Values beyond the
/// largest value become the largest value if `saturates`, or if the format has
/// nothing larger. Otherwise they become infinity, or NaN if there is no
/// infinity. If the format has no NaN, a NaN becomes 0.
mlir::Value encodeTiny(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x, TinyFloat format, bool saturates,
                       RoundMode mode);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_TINYFLOATS_H
