//===- TinyFloats.h - floats of eight bits or less --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts floats of at most eight bits, which no CPU computes with. Memory
// holds the bits of such a float, its code, in a byte. Readers convert the code
// to f32 or f64, and writers round to a code.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_TINYFLOATS_H
#define INGOT_DIALECTS_NN_TINYFLOATS_H

#include "mlir/IR/Builders.h"

namespace ingot::nn {

enum class RoundMode : uint32_t;

/// A format of ingot/abi/element_types.inc.
struct TinyFloat {
  /// The set of codes that are not finite numbers.
  enum Ends { IEEE, FN, FNUZ, FINITE, SCALE };

  int exponentBits, fractionBits, bias;
  Ends ends;

  int magnitudeBits() const { return exponentBits + fractionBits; }
};

/// Returns the format of a type of at most eight bits, or nullopt for other
/// types.
std::optional<TinyFloat> tinyFloatOf(mlir::Type type);

/// Returns the exact value of `code`, an i8, as `type`: f32 or f64. Unused bits
/// of the byte may be anything.
mlir::Value decodeTiny(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value code, TinyFloat format,
                       mlir::FloatType type);

/// Returns the code, an i8, of `x`: f32 or f64. Rounds to nearest, ties to
/// even; SCALE formats round as `mode` says. Values beyond the largest one
/// become the largest one if `saturates` or if the format has nothing else.
/// Otherwise they become infinity, or NaN if there is no infinity. A NaN
/// becomes 0 if the format has none.
mlir::Value encodeTiny(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x, TinyFloat format, bool saturates,
                       RoundMode mode);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_TINYFLOATS_H
