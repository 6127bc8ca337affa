//===- RootSizes.h - origins of dynamic sizes -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces a dynamic dimension back to the tensor that it comes from. Legalizers
// read the same size from different tensors of a chain. Tracing makes equal
// sizes the same dimension of the same tensor. Then the size for a `-1` beside
// them can be computed at compile time.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CORE_ROOTSIZES_H
#define INGOT_PASSES_LEGALIZE_CORE_ROOTSIZES_H

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <tuple>

namespace ingot::legalize {

/// Origin of a size: a dimension of a tensor, or a computed index if `dim` is
/// -1.
struct Root {
  mlir::Value value;
  int64_t dim = -1;

  bool operator==(const Root &other) const {
    return value == other.value && dim == other.dim;
  }
};

class RootSizes {
public:
  /// Resets the state for a function. Argument dimensions with the same name
  /// count as the same dimension.
  void start(mlir::func::FuncOp function);
  /// Returns the origin of a dynamic dimension, or the dimension itself.
  Root of(mlir::Value tensor, int64_t dim);
  /// Stores the origins of the dimensions of a value, so that each chain is
  /// walked once. The value must not be erased.
  void keep(mlir::Value tensor);
  /// Forgets the stored origins, because values may have been erased.
  void forget() {
    kept.clear();
    computed.clear();
  }

private:
  friend class RootRules;
  using Dim = std::pair<mlir::Value, int64_t>;
  using Roots = llvm::DenseMap<Dim, Root>;

  Root find(mlir::Value tensor, int64_t dim, int depth);
  Root step(mlir::Value tensor, int64_t dim, int depth);
  Root ofIndex(mlir::Value index, int depth);
  Root ofArithmetic(mlir::Operation *op, int depth);

  Roots arguments, kept, seen;
  /// Results of arithmetic on two origins or constants. The key is the op and
  /// its operands. Equal operations share the first result that is not erased.
  std::map<std::tuple<const void *, const void *, int64_t, const void *,
                      int64_t>,
           Root>
      computed;
  bool isKeeping = false;
};

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_ROOTSIZES_H
