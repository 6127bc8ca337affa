//===- PackedWeights.h - layout of packed weights ---------------*- C++ -*-===//
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

/// Returns the number of neighboring elements of k that are stored as a group.
/// The elements of a group in src take four bytes.
inline int64_t groupOf(mlir::Type src) {
  if (src.isBF16() || src.isF16() || src.isInteger(16))
    return 2;
  return src.isInteger(8) ? 4 : 1;
}
/// Returns the group size for the type of packed weights. f16 weights are
/// stored in pairs only if src is f16. Otherwise they are packed like f32.
inline int64_t groupOfPacked(mlir::ShapedType weights) {
  mlir::Type element = weights.getElementType();
  if (element.isF16() && weights.getShape().back() != 2)
    return 1;
  return groupOf(element);
}

/// Number of f16 products whose sum is computed in f16. The result is then
/// added to an f32 sum: see F16Dot.cpp.
constexpr int64_t kF16Terms = 64;

/// Number of columns that each statement about pairs of bytes covers.
constexpr int64_t kPairColumns = 16;
/// Number of counts in a statement. It counts the groups of each kind (as
/// stored, crossed, widened), per kPairColumns columns and per panel.
constexpr size_t kPairCounts = 6;

/// Number of columns with interleaved bytes, in 8-bit weights of
/// `cpu.packed_matmul`.
constexpr int64_t kByteColumns = 16;

/// Number of bytes of an element that is rounded to a fixed point of 24 bits.
constexpr int64_t kSplitDigits = 3;
/// Number of 4-byte elements at the start of a block from `cpu.round_blocks`: a
/// scale, and for each digit a term for the zero point. The `size` bytes of
/// each digit follow.
constexpr int64_t roundedHead(int64_t digits) { return 1 + digits; }
constexpr int64_t roundedWords(int64_t size, int64_t digits) {
  return roundedHead(digits) + digits * (size / 4);
}
/// Returns the number of digits of a block that has `words` 4-byte elements.
constexpr int64_t digitsOf(int64_t words, int64_t size) {
  return words == roundedWords(size, kSplitDigits) ? kSplitDigits : 1;
}
/// Returns the number of bytes for each element of the rounded src.
inline int64_t digitsOf(PackedMatMulOp op) {
  auto src = mlir::cast<mlir::ShapedType>(op.getSrc().getType());
  return digitsOf(src.getShape().back() / op.blocks(),
                  op.wordsOfBlock() * op.perWord());
}

/// Shape of packed weights: `outer…, depth / group, width`, followed by `group`
/// unless it is 1.
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
  /// Depth, including zeros after the last element.
  int64_t depth;
  int64_t width;
};

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_PACKEDWEIGHTS_H
