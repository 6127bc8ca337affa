//===- ScalarProgram.h - scalar bodies run on constants ---------*- C++ -*-===//
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

/// A float of any type as a double; an integer or index with its sign extended,
/// an i1 as 0 or 1.
union Lane {
  double f;
  int64_t i;
};

/// The low `width` bits of `value` as an integer in a lane.
inline int64_t signExtend(int64_t value, unsigned width) {
  return width == 1 ? value & 1 : llvm::SignExtend64(value, width);
}

/// The ops of a block on scalars, ready to run on many elements: each op is
/// looked up once, and then works on a column of elements at a time.
class ScalarProgram {
public:
  /// How many elements should run at a time: so many stay in the L1 cache.
  static constexpr size_t kMaxLanes = 512;

  /// The program that computes `result` in `block` from its arguments, for up
  /// to `lanes` elements at a time; nullopt if an op of the block is not known.
  static std::optional<ScalarProgram>
  create(mlir::Block &block, mlir::Value result, size_t lanes);

  /// Where the elements of argument `i` are put before a run.
  Lane *argument(size_t i) { return columns[i].data(); }
  /// Computes the first `count` elements; null if one of them is undefined (a
  /// division by zero).
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
