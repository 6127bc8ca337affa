//===- BytePacking.h - bytes packed from vectors of integers ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions that pack integers saturate them to the narrower type. Each
// instruction packs two vectors within lanes of 128 bits. An epilogue uses
// these instructions to store bytes if its results, by its own bounds, fit a
// byte.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_BYTEPACKING_H
#define INGOT_PASSES_CPU_PRODUCTS_BYTEPACKING_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

class BytePacking {
public:
  explicit BytePacking(kernel::EpilogueOpInterface op);

  /// Returns true if the results of the epilogue of `op` can be packed.
  explicit operator bool() const { return bool(packable); }

  /// Returns the i32 vector to pack, computed from the arguments of the
  /// epilogue's `body`.
  mlir::Value integersOf(IndexBuilder &b, mlir::Block &body,
                         mlir::ValueRange arguments, int64_t lanes) const;

  /// Packs one, two or four vectors into bytes. Each lane of 128 bits holds the
  /// bytes of this lane of the first vector, then of the second vector, and so
  /// on.
  mlir::Value pack(IndexBuilder &b,
                   llvm::ArrayRef<mlir::Value> integers) const;

private:
  bool isPackable(mlir::Value whole, int64_t zeroPoint);
  mlir::Value toInteger(IndexBuilder &b, mlir::Value result) const;

  /// The value of the epilogue to convert to bytes, without the zero point;
  /// null if it may exceed a byte. If the value is a float with a byte's lower
  /// bound only, this is the value before the bound. Packing saturates anyway.
  mlir::Value packable;
  bool isSigned = false, isRounded = false;
  /// The upper bound of a float whose lower bound was dropped.
  double most = 0;
  /// The values that are added to words and to bytes after packing.
  int64_t offsetOfWords = 0, offset = 0;
};

/// Runs the epilogue over the vectors of a row of a tile, and stores their
/// bytes. All lanes must be within the tensor. `coordinates` are those of the
/// first element.
void storePacked(IndexBuilder &b, const Tile &tile, const Output &output,
                 const BytePacking &packing, mlir::ValueRange sums,
                 llvm::ArrayRef<Index> coordinates);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_BYTEPACKING_H
