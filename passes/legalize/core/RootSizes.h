//===- RootSizes.h - where an open size comes from --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizers read the same size from one tensor of a chain or another. Read
// from where it comes from, equal sizes are the same dimension of the same
// tensor: a `-1` beside them is a number, and not one more open size.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CORE_ROOTSIZES_H
#define INGOT_PASSES_LEGALIZE_CORE_ROOTSIZES_H

#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <tuple>

namespace ingot::legalize {

/// A dimension of a tensor, or, without one, an index that a run computes.
struct Root {
  mlir::Value value;
  int64_t dim = -1;

  bool operator==(const Root &other) const {
    return value == other.value && dim == other.dim;
  }
};

class RootSizes {
public:
  /// Dimensions of arguments that have one name are one.
  void start(mlir::func::FuncOp function);
  /// Where an open dimension comes from; itself if no more is known.
  Root of(mlir::Value tensor, int64_t dim);
  /// Keeps what is known of the dimensions of a value that stays, so that the
  /// way back from there is walked once.
  void keep(mlir::Value tensor);
  /// Values may have been erased.
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
  /// What was computed of two roots (or numbers) by an operation, of what
  /// stays: the first of several equal ones.
  std::map<std::tuple<const void *, const void *, int64_t, const void *,
                      int64_t>,
           Root>
      computed;
  bool isKeeping = false;
};

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_ROOTSIZES_H
