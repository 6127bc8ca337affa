//===- ScalarProgram.h - runs scalar bodies on constants --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_SCALARPROGRAM_H
#define INGOT_DIALECTS_NN_SCALARPROGRAM_H

#include "mlir/IR/Block.h"
#include "llvm/Support/MathExtras.h"

#include <functional>
#include <vector>

namespace ingot::nn {

/// A lane: a float of any type as a double, or a sign-extended integer or
/// index. An i1 is 0 or 1.
union Lane {
  double f;
  int64_t i;
};

/// Returns the low `width` bits of `value` as an integer for a lane.
inline int64_t signExtend(int64_t value, unsigned width) {
  return width == 1 ? value & 1 : llvm::SignExtend64(value, width);
}

/// A program for the scalar ops of a block. Each op is looked up only once. A
/// step of the program processes a column of elements.
class ScalarProgram {
public:
  /// Number of elements per step, chosen so that the columns fit into the L1
  /// cache.
  static constexpr size_t kMaxLanes = 512;

  /// Makes the program that computes `result` in `block` from the block's
  /// arguments. A step processes at most `lanes` elements. Returns nullopt if
  /// an op is unknown.
  static std::optional<ScalarProgram>
  create(mlir::Block &block, mlir::Value result, size_t lanes);

  /// Returns the column for the elements of argument `i`.
  Lane *argument(size_t i) { return columns[i].data(); }
  /// Computes the first `count` elements. Returns null if an element is
  /// undefined because of a division by zero.
  const Lane *run(size_t count);

private:
  using Column = std::vector<Lane>;
  using Step = std::function<bool(size_t count)>;

  std::vector<Column> columns;
  std::vector<Step> steps;
  const Lane *result = nullptr;
};

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_SCALARPROGRAM_H
