//===- TransposeEmitter.h - rows that become columns ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSEEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSEEMITTER_H

#include "passes/cpu/kernels/rows/Rows.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::cpu {

/// Writes an op that turns `src` (support::getTurned), in
/// TransposesToVector.cpp; between bytes and 32 bits an element in
/// TransposesOfBytes.cpp.
struct TransposeEmitter {
  TransposeEmitter(mlir::OpBuilder &builder, mlir::linalg::GenericOp op);

  void emit();

  /// Whether the op computes of what it reads, before that is turned: there are
  /// no fewer bits of it.
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
  /// What the op computes of a vector, along which its other operands are one,
  /// or what becomes of its value `wanted`.
  mlir::Value compute(mlir::Value vector, mlir::Value wanted = {});
  /// The first `count` of `lanes` elements at `at`; others are 0.
  mlir::Value loadFirst(int64_t lanes, int64_t count, mlir::Value memref,
                        Values at);
  void storeFirst(mlir::Value vector, int64_t count, mlir::Value memref,
                  Values at);

  IndexBuilder b;
  mlir::linalg::GenericOp op;
  mlir::OpOperand &src, &dst;
  /// How many rows a square has.
  int64_t side;
  /// The loops along which src and dst are contiguous.
  int64_t row, column;
  llvm::SmallVector<Index> sizes, position;
  /// How many bytes a pixel has, if these are few and the next one's lie beside
  /// them, and all of them as one dimension.
  int64_t few = 0;
  mlir::Value pixels;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSEEMITTER_H
