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

/// Constant weights of an nn.packed_matmul as cpu.packed_matmul has them.
struct PackedBlocks {
  mlir::ElementsAttr words, scales;
  /// Null if all are 0.
  mlir::ElementsAttr zeroPoints;
};

/// Nullopt if a constant has no values, having been elided.
std::optional<PackedBlocks> packBlocks(nn::PackedMatMulOp op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_PACKBLOCKS_H
