//===- Multiplier.h - products of tiles in shared memory --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_PRODUCTS_MULTIPLIER_H
#define INGOT_PASSES_CUDA_PRODUCTS_MULTIPLIER_H

#include "passes/cuda/products/TileLoader.h"

#include <memory>

namespace ingot::cuda {

/// Multiplies the tiles of a step, and adds the products to the sums of the
/// thread.
class Multiplier {
public:
  virtual ~Multiplier();

  /// Makes a multiplier for the product: by matrix units, or by multiply-adds
  /// of f32.
  static std::unique_ptr<Multiplier> create(Code &code, const Product &product,
                                            Value thread);

  /// Returns the first sums of the thread: zeros.
  virtual llvm::SmallVector<Value> start() = 0;
  /// Returns the sums after the step whose tiles are at these addresses.
  virtual llvm::SmallVector<Value> multiply(Value srcTile, Value weightsTile,
                                            mlir::ValueRange sums) = 0;
  /// Stores the sums as rows of f32 in shared memory.
  virtual void store(mlir::ValueRange sums, Value rows) = 0;

protected:
  Multiplier(Code &code, const Product &product, Value thread);
  /// Returns the address of an element of the rows of sums.
  Value sumAt(Value rows, Value row, Value column);

  Code &code;
  ScheduleAttr schedule;
  TileLayout layout;
  /// The thread's number in its warp, and the first row and column of the warp.
  Value lane, warpRow, warpColumn;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_PRODUCTS_MULTIPLIER_H
