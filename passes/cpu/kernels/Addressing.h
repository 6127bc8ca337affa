//===- Addressing.h - elements of memrefs by their offset -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Index arithmetic for kernels, which address data linearly. A run of
// contiguous elements may cross dimensions. The distances between the elements
// of a register tile are constants, which an instruction encodes.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ADDRESSING_H
#define INGOT_PASSES_CPU_KERNELS_ADDRESSING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"

namespace ingot::cpu {

/// An index `value + constant`; `value` may be absent.
struct Index {
  Index(int64_t constant = 0) : constant(constant) {}
  Index(mlir::Value value);

  mlir::Value value;
  int64_t constant = 0;
};

/// Builds index arithmetic and adds constants last.
struct IndexBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;

  Index add(Index x, Index y);
  Index sub(Index x, Index y);
  Index mul(Index x, int64_t factor);
  Index mul(Index x, Index y);
  /// Division, division rounded up, and remainder of non-negative values.
  Index div(Index x, Index divisor);
  Index divideCeil(Index x, Index divisor);
  Index rem(Index x, Index divisor);
  Index min(Index x, Index y);
  Index max(Index x, Index y);
  mlir::Value get(Index x);

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, Index x, Index y);
  /// Returns true if both conditions hold. A null condition, or a null result,
  /// means always true.
  mlir::Value both(mlir::Value x, mlir::Value y);
  Index select(mlir::Value condition, Index x, Index y);
  /// Builds an `scf.if`: runs `then` if `condition` holds, else `otherwise`, if
  /// there is one.
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);
};

/// Returns the size of dimension `i` of a memref. `countOf` returns the product
/// of the sizes of dimensions [first, end).
Index dimOf(IndexBuilder &b, mlir::Value memref, int64_t i);
Index countOf(IndexBuilder &b, mlir::Value memref, int64_t first, int64_t end);
/// Returns the coordinates of row `number` in the first `dims` dimensions. Rows
/// are counted over these dimensions, the last one fastest.
llvm::SmallVector<Index> coordinatesOf(IndexBuilder &b, mlir::Value memref,
                                       int64_t dims, Index number);

/// A memref as one dimension of elements.
struct Flat {
  /// Flattens `memref`, which must have static inner strides.
  Flat(IndexBuilder &b, mlir::Value memref);

  mlir::Value data;
  mlir::ArrayRef<int64_t> shape;
  llvm::SmallVector<Index> strides;

  Index at(IndexBuilder &b, llvm::ArrayRef<Index> coordinates) const;
};

llvm::SmallVector<Flat> flatten(IndexBuilder &b, mlir::ValueRange memrefs);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ADDRESSING_H
