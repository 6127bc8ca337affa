//===- UnpackWeights.h - weights of a few bits as f32 -----------*- C++ -*-===//
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

/// The numbers of vectors of words, each of which holds `32 / bits` of them for
/// each column.
class Unpacker {
public:
  Unpacker(IndexBuilder &b, int64_t lanes, int64_t bits);

  /// Whether the numbers of neighbouring columns lie beside each other, as
  /// bytes: an instruction that loads also extends their sign.
  bool readsBytes() const { return bits == 8; }

  /// Number `i` of each word, as f32, times `factor`; of bytes, those that
  /// words hold.
  mlir::Value unpack(IndexBuilder &b, mlir::Value words, int64_t i) const;

  /// The first `count` numbers of a word, those after each other that share
  /// instructions, so that registers hold what is shared of several vectors.
  llvm::SmallVector<int64_t> order(int64_t count) const;

  /// What numbers are multiplied by, a power of two: scales are to be divided
  /// by it, zero points multiplied.
  float factor() const;

private:
  /// Whether numbers of four bits are extended as bytes, all of a word in a few
  /// instructions, and then go to the top of a lane.
  bool areExtendedAsBytes() const { return bits == 4 && !table; }

  mlir::Value unpackByBytes(IndexBuilder &b, mlir::Value words,
                            int64_t i) const;

  int64_t lanes, bits;
  /// What 16 indices of four bits stand for, where an instruction looks up a
  /// whole vector; else null.
  mlir::Value table;
};

/// How many rows of weights are unpacked to the stack at a time, each of
/// `rowSize` elements: whole blocks, or an even part of one.
int64_t unpackedAtOnce(cpu::PackedMatMulOp op, const PackedMatMulPlan &plan,
                       int64_t rowSize);

/// Numbers of f16 as f32, without an instruction for it: levels that have FMA
/// have one.
mlir::Value widenF16(IndexBuilder &b, mlir::Value weights);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_MATMUL_UNPACKWEIGHTS_H
