//===- ByteLookup.h - lookups of bytes in a table ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks up bytes in a table of 256 entries, which does not fit in a register.
//
// With AVX-512 the table is four vectors of 32 int16. `vpermi2w` picks an int16
// from two of these vectors, by the upper seven bits of a byte. The lowest bit
// selects the half of the int16.
//
// On other levels the table is 16 parts of 16 bytes. `pshufb` picks from a part
// by the lowest four bits of an index, and returns 0 if the index is negative.
// Each step subtracts 16 from the index with saturation. The index becomes
// negative after its part of the table and stays negative. Each part is stored
// as the exclusive or with the previous part. The exclusive or of all picked
// bytes is thus the entry.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_BYTELOOKUP_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_BYTELOOKUP_H

#include "dialects/ingot/TargetInfo.h"
#include "passes/cpu/kernels/Addressing.h"

namespace ingot::cpu {

class ByteLookup {
public:
  /// Makes a lookup in `table`, a memref: for the longest vectors of the
  /// target, and for vectors of 16 bytes, which every level has.
  static ByteLookup widest(IndexBuilder &b, const TargetInfo &target,
                           mlir::Value table);
  static ByteLookup narrow(IndexBuilder &b, mlir::Value table);

  /// Returns true if the target has masked loads and stores of bytes.
  static bool hasMasks(const TargetInfo &target);

  /// Returns the number of bytes of a vector.
  int64_t bytes() const { return numBytes; }
  /// Returns the table's entry for each byte of a vector.
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
