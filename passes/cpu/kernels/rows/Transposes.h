//===- Transposes.h - transpositions in registers ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSES_H
#define INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSES_H

#include "passes/cpu/products/MicroKernel.h"

namespace ingot::cpu {

/// Returns the number of rows that are transposed at a time if elements have 32
/// bits: 8, or 4 if vectors have 128 bits.
int64_t squareOf(const TargetInfo &target);

/// Returns the columns of a square of rows. Rows have 128 bits, or there are 8
/// rows of 8 elements of 32 bits. Elements cross between halves of 128 bits
/// only in the last step, because such instructions cost more.
llvm::SmallVector<mlir::Value>
transposeSquare(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);

//===----------------------------------------------------------------------===//
// Bytes that are converted from or to 32 bits
//===----------------------------------------------------------------------===//
//
// Packs four rows of bytes in one row of words. Arithmetic then replaces
// movements of bytes, and only a quarter of the data must be transposed.

/// The number of rows and columns that are transposed at a time.
constexpr int64_t kByteSquare = 16;

/// Returns words that hold the lowest bytes of up to four rows of 32-bit
/// elements.
mlir::Value joinBytes(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);
/// Returns byte `i` of each word.
mlir::Value byteOf(IndexBuilder &b, mlir::Value words, int64_t i);

/// Returns the columns of up to four rows of words. Each row of words packs
/// four rows of bytes. A column has 16 bytes.
llvm::SmallVector<mlir::Value>
transposeWords(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);

/// Returns the columns of 16 rows of 16 bytes, packed in four rows of words.
/// This is the reverse of transposeWords.
llvm::SmallVector<mlir::Value>
transposeToWords(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);

/// Concatenates vectors of the same length; their number must be a power of
/// two.
mlir::Value concatenate(IndexBuilder &b,
                        llvm::SmallVector<mlir::Value> parts);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ROWS_TRANSPOSES_H
