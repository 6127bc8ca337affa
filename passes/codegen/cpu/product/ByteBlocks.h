//===- ByteBlocks.h - rows of bytes unpacked to fours -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions unpack bytes within lanes of 128 bits, so that what becomes of a
// block of 64 channels are four vectors in the order of `cpu::ByteFours`. Their
// epilogue takes its operands in that order; instructions that pack words and
// bytes, within lanes too, bring the results back into theirs.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CODEGEN_CPU_PRODUCT_BYTEBLOCKS_H
#define INGOT_PASSES_CODEGEN_CPU_PRODUCT_BYTEBLOCKS_H

#include "passes/codegen/cpu/product/MicroKernel.h"

namespace ingot::codegen {

/// Vectors of up to four rows of bytes as fours: of 16 channels each in one
/// vector of i32, in their order, and of blocks in four. Zeros where there are
/// fewer rows.
mlir::Value unpackVector(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);
llvm::SmallVector<mlir::Value> unpackBlock(IndexBuilder &b,
                                           llvm::ArrayRef<mlir::Value> rows);

/// The epilogue of blocks.
class BlockStore {
public:
  /// `channels` are as many as are prepared at once.
  BlockStore(IndexBuilder &b, const Output &output, int64_t channels);

  /// Puts what operands hold for each of the channels [first, end), which are
  /// whole blocks, into the order of unpacked ones.
  void prepare(IndexBuilder &b, Index first, Index end);

  /// Runs the epilogue over the four vectors of a block of sums and stores
  /// them; `at` are the coordinates of the first channel in dst.
  void store(IndexBuilder &b, llvm::ArrayRef<mlir::Value> sums,
             llvm::ArrayRef<Index> at) const;

private:
  void findPackable();
  bool isPackable(mlir::Value whole);
  mlir::Value toInteger(IndexBuilder &b, mlir::Value result) const;
  llvm::SmallVector<mlir::Value> loadOperand(IndexBuilder &b, size_t i,
                                             llvm::ArrayRef<Index> at) const;

  const Output &output;
  /// For each operand its channels as prepared, or null if it differs from
  /// pixel to pixel or is the same for all channels.
  llvm::SmallVector<mlir::Value> prepared;
  Index firstPrepared;
  /// What the epilogue makes bytes of, if that is within a byte: packed
  /// instead. Null otherwise. Where only the lower bound of bytes is below it,
  /// which packing holds, floats before their bounds.
  mlir::Value packable;
  bool isSigned = false, isRounded = false;
  /// The upper bound of such floats.
  double most = 0;
  /// What is added to bytes once they are packed.
  int64_t offset = 0;
};

} // namespace ingot::codegen

#endif // INGOT_PASSES_CODEGEN_CPU_PRODUCT_BYTEBLOCKS_H
