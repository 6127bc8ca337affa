//===- ByteLookup.h - vectors of bytes looked up in a table -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of 256 bytes does not fit a register. With AVX-512 it is four of 32
// words: `vpermi2w` picks from two of them a word for each of 32 bytes, by the
// byte's upper seven bits, and the lowest says which half of the word it is.
// Elsewhere it is 16 of 16 bytes, which `pshufb` picks from by the lower four
// bits, and gives 0 where the highest bit is set. With 16 taken off time and
// again an index gets below 0 when its part of the table is done, and stays
// there; so parts are stored as differences to those before, by exclusive or,
// and what is picked adds up to the entry.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_BYTELOOKUP_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_BYTELOOKUP_H

#include "dialects/ingot/TargetInfo.h"
#include "passes/cpu/kernels/Addressing.h"

namespace ingot::cpu {

class ByteLookup {
public:
  /// Reads the table, a memref, for the longest vectors of the target, and for
  /// those of 16 bytes that every level has.
  static ByteLookup widest(IndexBuilder &b, const TargetInfo &target,
                           mlir::Value table);
  static ByteLookup narrow(IndexBuilder &b, mlir::Value table);

  /// Whether vectors of bytes are loaded and stored under a mask.
  static bool hasMasks(const TargetInfo &target);

  /// Bytes of a vector.
  int64_t bytes() const { return numBytes; }
  /// What stands in the table for each byte of a vector.
  mlir::Value emit(IndexBuilder &b, mlir::Value vector) const;

private:
  ByteLookup(IndexBuilder &b, int64_t numBytes, mlir::Value table);
  mlir::Value emitWords(IndexBuilder &b, mlir::Value vector) const;
  mlir::Value emitParts(IndexBuilder &b, mlir::Value vector) const;

  int64_t numBytes;
  llvm::SmallVector<mlir::Value> parts;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_BYTELOOKUP_H
