//===- BytePacking.h - bytes packed from vectors of integers ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions that pack integers hold them within the bounds of the narrower
// type, and take two vectors at once, within lanes of 128 bits. What an
// epilogue stores as bytes goes through them if its own bounds say that it is
// within a byte.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_BYTEPACKING_H
#define INGOT_PASSES_CPU_PRODUCTS_BYTEPACKING_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

class BytePacking {
public:
  explicit BytePacking(kernel::EpilogueOpInterface op);

  /// Whether what the epilogue of `op` stores can be packed.
  explicit operator bool() const { return bool(packable); }

  /// What is packed of one vector, of i32: of the arguments of the epilogue's
  /// `body`.
  mlir::Value integersOf(IndexBuilder &b, mlir::Block &body,
                         mlir::ValueRange arguments, int64_t lanes) const;

  /// Bytes of one, two or four vectors: each lane of 128 bits has those of this
  /// lane of the first vector, then of the second one, and so on.
  mlir::Value pack(IndexBuilder &b,
                   llvm::ArrayRef<mlir::Value> integers) const;

private:
  bool isPackable(mlir::Value whole);
  mlir::Value toInteger(IndexBuilder &b, mlir::Value result) const;

  /// What the epilogue makes bytes of, if that is within a byte. Null
  /// otherwise. Where only the lower bound of bytes is below it, which packing
  /// holds, floats before their bounds.
  mlir::Value packable;
  bool isSigned = false, isRounded = false;
  /// The upper bound of such floats.
  double most = 0;
  /// What is added to bytes once they are packed.
  int64_t offset = 0;
};

/// Runs the epilogue over the vectors of a row of a tile, all of whose lanes
/// are within the tensor, and stores their bytes. `coordinates` are those of
/// the first.
void storePacked(IndexBuilder &b, const Tile &tile, const Output &output,
                 const BytePacking &packing, mlir::ValueRange sums,
                 llvm::ArrayRef<Index> coordinates);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_BYTEPACKING_H
