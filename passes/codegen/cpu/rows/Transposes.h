//===- Transposes.h - squares of elements turned in registers ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CODEGEN_CPU_ROWS_TRANSPOSES_H
#define INGOT_PASSES_CODEGEN_CPU_ROWS_TRANSPOSES_H

#include "passes/codegen/cpu/product/MicroKernel.h"

namespace ingot::codegen {

/// How many rows of 32 bits an element are turned at a time: 8, or 4 where
/// vectors have 128 bits.
int64_t squareOf(const TargetInfo &target);

/// The columns of a square, given its rows: of 128 bits, or 8 of 8 elements of
/// 32 bits. These cross between halves of 128 bits in the last step only: an
/// instruction that does so costs more.
llvm::SmallVector<mlir::Value>
transposeSquare(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);

} // namespace ingot::codegen

#endif // INGOT_PASSES_CODEGEN_CPU_ROWS_TRANSPOSES_H
