//===- TinyFloats.h - floats of eight bits or less --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No CPU computes with them. In memory each is a byte that holds its bits, its
// code; what reads a code makes an f32 or f64 of it, what writes one rounds.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_TINYFLOATS_H
#define INGOT_DIALECTS_NN_TINYFLOATS_H

#include "mlir/IR/Builders.h"

namespace ingot::nn {

enum class RoundMode : uint32_t;

/// A format, as ingot/abi/element_types.inc has it.
struct TinyFloat {
  /// Which codes are no numbers.
  enum Ends { IEEE, FN, FNUZ, FINITE, SCALE };

  int exponentBits, fractionBits, bias;
  Ends ends;

  int magnitudeBits() const { return exponentBits + fractionBits; }
};

/// The format of a type of eight bits or less; nullopt for all others.
std::optional<TinyFloat> tinyFloatOf(mlir::Type type);

/// What `code`, an i8, stands for, exactly, as `type`: f32 or f64. Bits of the
/// byte that the format does not have may be anything.
mlir::Value decodeTiny(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value code, TinyFloat format,
                       mlir::FloatType type);

/// The code, an i8, of `x`: f32 or f64. Rounds to nearest, halves to even, but
/// SCALE formats as `mode` says. What is beyond the largest number becomes that
/// number if `saturates` or if the format has no other, else infinity, or NaN
/// where there is none. A NaN becomes 0 where there is none.
mlir::Value encodeTiny(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value x, TinyFloat format, bool saturates,
                       RoundMode mode);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_TINYFLOATS_H
