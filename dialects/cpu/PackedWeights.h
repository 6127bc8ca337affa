//===- PackedWeights.h - the shape of weights in panels ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_PACKEDWEIGHTS_H
#define INGOT_DIALECTS_CPU_PACKEDWEIGHTS_H

#include "dialects/cpu/CpuDialect.h"

#include <cassert>

namespace ingot::cpu {

/// How many elements of neighbouring k lie together, of src and of the weights
/// that it is multiplied with: as many as four bytes of src hold.
inline int64_t groupOf(mlir::Type src) {
  if (src.isBF16() || src.isF16() || src.isInteger(16))
    return 2;
  return src.isInteger(8) ? 4 : 1;
}
/// The same, told by the type of packed weights: those of f16 lie in pairs
/// where src is of f16, else as those of f32.
inline int64_t groupOfPacked(mlir::ShapedType weights) {
  mlir::Type element = weights.getElementType();
  if (element.isF16() && weights.getShape().back() != 2)
    return 1;
  return groupOf(element);
}

/// As f16, so many products of one column are added up before their sum is
/// added to others as f32: see F16Dot.cpp.
constexpr int64_t kHalfTerms = 64;

/// The columns that one statement about pairs of bytes is for.
constexpr int64_t kPairColumns = 16;
/// Numbers of groups of k: as they are, crossed, neither; for so many columns
/// and for panels.
constexpr size_t kPairCounts = 6;

/// The columns whose bytes lie beside each other where `cpu.packed_matmul` has
/// weights of 8 bits.
constexpr int64_t kByteColumns = 16;

/// The words of a block of `size` elements that `cpu.round_blocks` makes: its
/// scale, a number for its zero point, then its bytes.
constexpr int64_t kRoundedHead = 2;
constexpr int64_t roundedWords(int64_t size) { return kRoundedHead + size / 4; }

/// Weights of a product taken apart: `outer…, depth / group, width`, and
/// `group` behind it where that is not 1.
struct PackedWeights {
  explicit PackedWeights(mlir::Value value)
      : element(mlir::cast<mlir::ShapedType>(value.getType()).getElementType()),
        group(groupOfPacked(mlir::cast<mlir::ShapedType>(value.getType()))) {
    auto shape = mlir::cast<mlir::ShapedType>(value.getType()).getShape();
    assert((group == 1 || shape.back() == group) && "packed in groups");
    if (group > 1)
      shape = shape.drop_back();
    assert(shape.size() >= 2 && "panels have a depth and a width");
    width = shape.back();
    depth = shape[shape.size() - 2];
    if (!mlir::ShapedType::isDynamic(depth))
      depth *= group;
    outer = shape.drop_back(2);
  }

  mlir::Type element;
  int64_t group;
  /// Panels, then taps; or batches, then panels.
  mlir::ArrayRef<int64_t> outer;
  /// Zeros behind the last element included.
  int64_t depth;
  int64_t width;
};

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_PACKEDWEIGHTS_H
