//===- Transposes.h - squares of elements turned in registers ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSES_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSES_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

/// How many rows of 32 bits an element are turned at a time: 8, or 4 where
/// vectors have 128 bits.
int64_t squareOf(const TargetInfo &target);

/// The columns of a square, given its rows: of 128 bits, or 8 of 8 elements of
/// 32 bits. These cross between halves of 128 bits in the last step only: an
/// instruction that does so costs more.
llvm::SmallVector<mlir::Value>
transposeSquare(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);

//===----------------------------------------------------------------------===//
// Bytes that are computed, or computed with, as 32 bits an element
//===----------------------------------------------------------------------===//
//
// Four rows of bytes are the bytes of one row of words: what would move bytes
// is arithmetic, and a quarter of it is left to be turned.

/// How many rows and columns are turned at a time.
constexpr int64_t kByteSquare = 16;

/// Words of the bytes that up to four rows of 32 bits an element end with.
mlir::Value joinBytes(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);
/// Row `i` of words, as bytes.
mlir::Value byteOf(IndexBuilder &b, mlir::Value words, int64_t i);

/// The columns of up to four rows of words, each four rows of bytes: 16 bytes
/// each.
llvm::SmallVector<mlir::Value>
transposeWords(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);

/// The same the other way around: of 16 rows of 16 bytes the columns, as four
/// rows of words.
llvm::SmallVector<mlir::Value>
transposeToWords(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);

/// Vectors of as many lanes each, one behind the other: a power of two of them.
mlir::Value concatenate(IndexBuilder &b,
                        llvm::SmallVector<mlir::Value> parts);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSES_H
