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

/// Packs the weights of `op`. Returns nullopt if a constant is elided.
std::optional<PackedBlocks> packBlocks(nn::PackedMatMulOp op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_PACKBLOCKS_H
