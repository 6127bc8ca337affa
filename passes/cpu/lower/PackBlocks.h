//===- PackBlocks.h - weights of a few bits in panels -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_PACKBLOCKS_H
#define INGOT_PASSES_CPU_LOWER_PACKBLOCKS_H

#include "dialects/nn/NNDialect.h"

#include <optional>

namespace ingot::cpu {

/// The constant weights of an nn.packed_matmul in the layout of
/// cpu.packed_matmul.
struct PackedBlocks {
  mlir::ElementsAttr words, scales;
  /// Null if all are 0.
  mlir::ElementsAttr zeroPoints;
};

/// The form of the rows that a kernel multiplies.
struct PackedRows {
  /// The bytes of an element; 0 if rows are of f32.
  int64_t digits;
  /// The size of the kernel's blocks. It divides that of `nn.packed_matmul`
  /// if the latter has several blocks.
  int64_t block;
};

/// Packs the weights of `op` for rows of a form. Returns nullopt if a constant
/// is elided.
std::optional<PackedBlocks> packBlocks(nn::PackedMatMulOp op,
                                       const PackedRows &rows);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_PACKBLOCKS_H
