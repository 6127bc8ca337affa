//===- UnpackWeights.h - packed weights as f32 ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_MATMUL_UNPACKWEIGHTS_H
#define INGOT_PASSES_CPU_KERNELS_MATMUL_UNPACKWEIGHTS_H

#include "passes/cpu/products/MicroKernel.h"
#include "passes/cpu/schedule/Plans.h"

namespace ingot::cpu {

/// Unpacks vectors of 32-bit words. A word holds `32 / bits` values of a
/// column.
class Unpacker {
public:
  Unpacker(IndexBuilder &b, int64_t lanes, int64_t bits);

  /// Returns true if the values of neighbouring columns are stored as
  /// neighbouring bytes. A load instruction then also extends their sign.
  bool readsBytes() const { return bits == 8; }

  /// Returns value `i` of each word as f32, times `factor`. With 8 bits,
  /// `words` holds the bytes of value `i`.
  mlir::Value unpack(IndexBuilder &b, mlir::Value words, int64_t i) const;

  /// Returns the order in which to unpack the first `count` values of a word.
  /// Values that share instructions follow each other, so that registers can
  /// hold the shared results of several vectors.
  llvm::SmallVector<int64_t> order(int64_t count) const;

  /// Returns the factor that all unpacked values contain, a power of two. The
  /// caller divides scales by it, and multiplies zero points by it.
  float factor() const;

private:
  /// Returns true if values of four bits are extended as bytes and then moved
  /// to the top of a lane. The bytes of a word are extended at once.
  bool areExtendedAsBytes() const { return bits == 4 && !table; }

  mlir::Value unpackByBytes(IndexBuilder &b, mlir::Value words,
                            int64_t i) const;

  int64_t lanes, bits;
  /// The value for each of the 16 indices of four bits, if one instruction can
  /// look up a whole vector; else null.
  mlir::Value table;
};

/// Returns the number of rows of weights that are unpacked to the stack at a
/// time. These are whole blocks, or an even part of one block. A row has
/// `rowSize` elements.
int64_t unpackedAtOnce(cpu::PackedMatMulOp op, const PackedMatMulPlan &plan,
                       int64_t rowSize);

/// Converts f16 to f32 for levels without FMA, which have no instruction for
/// it.
mlir::Value widenF16(IndexBuilder &b, mlir::Value weights);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_MATMUL_UNPACKWEIGHTS_H
