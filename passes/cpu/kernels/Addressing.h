//===- Addressing.h - elements of memrefs by their offset -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels address data linearly: a run of contiguous elements may cross
// dimensions, and what differs between the elements of a register tile is a
// constant that the instruction holds.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ADDRESSING_H
#define INGOT_PASSES_CPU_KERNELS_ADDRESSING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"

namespace ingot::cpu {

/// `value + constant`, value being absent or an index.
struct Index {
  Index(int64_t constant = 0) : constant(constant) {}
  Index(mlir::Value value);

  mlir::Value value;
  int64_t constant = 0;
};

/// Builds index arithmetic, constants last.
struct IndexBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;

  Index add(Index x, Index y);
  Index sub(Index x, Index y);
  Index mul(Index x, int64_t factor);
  Index mul(Index x, Index y);
  /// Of numbers that are not negative.
  Index div(Index x, Index divisor);
  Index divideCeil(Index x, Index divisor);
  Index rem(Index x, Index divisor);
  Index min(Index x, Index y);
  Index max(Index x, Index y);
  mlir::Value get(Index x);

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, Index x, Index y);
  /// Whether both hold; null is what always does.
  mlir::Value both(mlir::Value x, mlir::Value y);
  Index select(mlir::Value condition, Index x, Index y);
  /// Builds code for where `condition` holds, and for where it does not, if
  /// there is any.
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);
};

/// Dimension `i` of a memref, and the product of dimensions [first, end).
Index dimOf(IndexBuilder &b, mlir::Value memref, int64_t i);
Index countOf(IndexBuilder &b, mlir::Value memref, int64_t first, int64_t end);
/// Where row `number` lies: a coordinate for each of the first `dims`
/// dimensions, over which rows are counted, the last fastest.
llvm::SmallVector<Index> coordinatesOf(IndexBuilder &b, mlir::Value memref,
                                       int64_t dims, Index number);

/// A memref as one dimension of elements.
struct Flat {
  /// Of `memref`, which must have static inner strides.
  Flat(IndexBuilder &b, mlir::Value memref);

  mlir::Value data;
  mlir::ArrayRef<int64_t> shape;
  llvm::SmallVector<Index> strides;

  Index at(IndexBuilder &b, llvm::ArrayRef<Index> coordinates) const;
};

llvm::SmallVector<Flat> flatten(IndexBuilder &b, mlir::ValueRange memrefs);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ADDRESSING_H
