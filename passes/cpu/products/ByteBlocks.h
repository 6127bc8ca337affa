//===- ByteBlocks.h - rows of bytes unpacked to fours -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions unpack bytes within lanes of 128 bits, so that the vectors that
// become of a block of channels have them in another order. Their epilogue
// takes its operands in that order; instructions that pack words and bytes,
// within lanes too, bring the results back into theirs.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_BYTEBLOCKS_H
#define INGOT_PASSES_CPU_PRODUCTS_BYTEBLOCKS_H

#include "passes/cpu/products/BytePacking.h"

namespace ingot::cpu {

/// Vectors of up to four rows of bytes as fours: of channels in one vector of
/// i32, in their order, and of blocks in four. Zeros where there are fewer
/// rows.
mlir::Value unpackVector(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);
llvm::SmallVector<mlir::Value> unpackBlock(IndexBuilder &b,
                                           llvm::ArrayRef<mlir::Value> rows);

/// The channels that are unpacked at once.
struct ByteBlock {
  /// Of i32, each.
  int64_t lanes;
  /// One, two or four.
  int64_t vectors;

  int64_t channels() const { return lanes * vectors; }
  /// Where channel `channel` stands in the block's vectors: each lane of 128
  /// bits has neighbours, four of them in the first vector, and so on. That is
  /// where `cpu::ByteFours` has them, of 64 channels.
  int64_t placeOf(int64_t channel) const;
  /// Whether that is their own order.
  bool isNatural() const;
};

/// Two rows of bytes of a block as words, those of a channel beside each other:
/// a vector of i16 for each of the block's vectors. Zeros where a row is null.
llvm::SmallVector<mlir::Value> unpackPairs(IndexBuilder &b,
                                           const ByteBlock &block,
                                           mlir::Value first,
                                           mlir::Value second);

/// The same of four rows as bytes: a vector of i32 each.
llvm::SmallVector<mlir::Value> unpackFours(IndexBuilder &b,
                                           const ByteBlock &block,
                                           llvm::ArrayRef<mlir::Value> rows);

/// Vectors of a block's channels, of which `natural` has the vectors in their
/// order, in the order of unpacked ones.
llvm::SmallVector<mlir::Value>
inUnpackedOrder(IndexBuilder &b, const ByteBlock &block, mlir::Value natural);

/// The epilogue of blocks.
class BlockStore {
public:
  /// `channels` are as many as are prepared at once.
  BlockStore(IndexBuilder &b, const Output &output, const ByteBlock &block,
             int64_t channels);

  /// Puts what operands hold for each of the channels [first, end), which are
  /// whole blocks, into the order of unpacked ones.
  void prepare(IndexBuilder &b, Index first, Index end);

  /// Runs the epilogue over the vectors of a block of sums and stores them;
  /// `at` are the coordinates of the first channel in dst.
  void store(IndexBuilder &b, llvm::ArrayRef<mlir::Value> sums,
             llvm::ArrayRef<Index> at) const;

private:
  mlir::Value loadBlock(IndexBuilder &b, mlir::Value data, Index at) const;
  llvm::SmallVector<mlir::Value> loadOperand(IndexBuilder &b, size_t i,
                                             llvm::ArrayRef<Index> at) const;

  const Output &output;
  ByteBlock block;
  /// For each operand its channels as prepared, or null if it differs from
  /// pixel to pixel or is the same for all channels.
  llvm::SmallVector<mlir::Value> prepared;
  Index firstPrepared;
  BytePacking packing;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_BYTEBLOCKS_H
