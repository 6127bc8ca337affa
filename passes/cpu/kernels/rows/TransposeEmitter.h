//===- TransposeEmitter.h - code of transpositions --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSEEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSEEMITTER_H

#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::cpu {

/// Writes an op that transposes `src` (support::getTransposedOperand). The code
/// is in TransposesToVector.cpp; TransposesInt8.cpp has conversions between
/// bytes and elements of 32 bits.
struct TransposeEmitter {
  TransposeEmitter(mlir::OpBuilder &builder, mlir::linalg::GenericOp op);

  void emit();

  /// Returns true if the op's body runs before the transposition. This is so if
  /// elements of src have at least as many bits as those of dst.
  static bool computesFirst(mlir::OpOperand &src, mlir::OpOperand &dst);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using PartFn = llvm::function_ref<void(Index first, int64_t count)>;

  void forEachPart(Index size, PartFn body);
  void emitParts();
  void emitSquare(Index row, int64_t rows, Index column, int64_t columns);
  Values turn(Values rows);
  void emitElements();

  void emitToBytes(Index row, int64_t rows, Index column, int64_t columns);
  void emitFromBytes(Index row, int64_t rows, Index column, int64_t columns);
  void findFew();
  Values atPixel(mlir::OpOperand &bytes, int64_t pixel);
  mlir::Value loadPixels(int64_t count);
  void storePixels(mlir::Value words, int64_t count);

  Values at(mlir::OpOperand &operand);
  mlir::Value loadScalar(mlir::OpOperand &operand);
  /// Applies the op's body to a vector of src. The other operands have one
  /// value for all lanes. Returns the result, or if `wanted` is given, the
  /// vector of that intermediate value.
  mlir::Value compute(mlir::Value vector, mlir::Value wanted = {});
  /// Loads the first `count` of `lanes` elements at `at`; other lanes are 0.
  mlir::Value loadFirst(int64_t lanes, int64_t count, mlir::Value memref,
                        Values at);
  void storeFirst(mlir::Value vector, int64_t count, mlir::Value memref,
                  Values at);

  IndexBuilder b;
  mlir::linalg::GenericOp op;
  mlir::OpOperand &src, &dst;
  /// The number of rows of a square.
  int64_t side;
  /// The loops along which src and dst are contiguous.
  int64_t row, column;
  llvm::SmallVector<Index> sizes, position;
  /// The number of bytes of a pixel if it is small and pixels are contiguous;
  /// else 0. `pixels` is then the memref with its last two dimensions
  /// collapsed.
  int64_t few = 0;
  mlir::Value pixels;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSEEMITTER_H
