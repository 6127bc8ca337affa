//===- ByteBlocks.h - rows of bytes unpacked to fours -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions unpack bytes within lanes of 128 bits. This changes the order of
// a block's channels. The epilogue takes its operands in the changed order.
// Instructions that pack int16 and bytes also work within lanes, and restore
// the original order.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_BYTEBLOCKS_H
#define INGOT_PASSES_CPU_PRODUCTS_BYTEBLOCKS_H

#include "passes/cpu/products/BytePacking.h"

namespace ingot::cpu {

/// Unpack vectors of up to four rows of bytes into groups of four bytes, one
/// from each row. Missing rows count as zeros. unpackVector returns one vector
/// of i32 with the channels in order; unpackBlock takes a block and returns
/// four vectors.
mlir::Value unpackVector(IndexBuilder &b, llvm::ArrayRef<mlir::Value> rows);
llvm::SmallVector<mlir::Value> unpackBlock(IndexBuilder &b,
                                           llvm::ArrayRef<mlir::Value> rows);

/// The channels that are unpacked together.
struct ByteBlock {
  /// The lanes of i32 in each vector.
  int64_t lanes;
  /// The number of vectors: one, two or four.
  int64_t vectors;

  int64_t channels() const { return lanes * vectors; }
  /// Returns the position of channel `channel` in the block's vectors. Each
  /// lane of 128 bits holds neighbours: four of them in the first vector, and
  /// so on. `cpu::GroupsOfFour` uses the same order for 64 channels.
  int64_t placeOf(int64_t channel) const;
  /// Returns true if the vectors hold the channels in their natural order.
  bool isNatural() const;
};

/// Unpacks two rows of bytes of a block into pairs of int16, one pair for each
/// channel. Returns a vector of i16 for each vector of the block. A null row
/// counts as zeros.
llvm::SmallVector<mlir::Value> unpackPairs(IndexBuilder &b,
                                           const ByteBlock &block,
                                           mlir::Value first,
                                           mlir::Value second);

/// Unpacks four rows of a block into groups of four bytes: a vector of i32 for
/// each vector of the block.
llvm::SmallVector<mlir::Value>
unpackGroupsOfFour(IndexBuilder &b, const ByteBlock &block,
                   llvm::ArrayRef<mlir::Value> rows);

/// Moves a block's channels from the natural order in `natural` into the order
/// of unpacked vectors.
llvm::SmallVector<mlir::Value>
inUnpackedOrder(IndexBuilder &b, const ByteBlock &block, mlir::Value natural);

/// Runs and stores the epilogue of blocks.
class BlockStore {
public:
  /// `channels` is the number of channels that prepare() takes at once.
  BlockStore(IndexBuilder &b, const Output &output, const ByteBlock &block,
             int64_t channels);

  /// Brings the operands' elements of channels [first, end) into the order of
  /// unpacked vectors. The channels must be whole blocks.
  void prepare(IndexBuilder &b, Index first, Index end);

  /// Runs the epilogue over the vectors of a block of sums, and stores them.
  /// `at` are the coordinates of the first channel in dst.
  void store(IndexBuilder &b, llvm::ArrayRef<mlir::Value> sums,
             llvm::ArrayRef<Index> at) const;

private:
  mlir::Value loadBlock(IndexBuilder &b, mlir::Value data, Index at) const;
  llvm::SmallVector<mlir::Value> loadOperand(IndexBuilder &b, size_t i,
                                             llvm::ArrayRef<Index> at) const;

  const Output &output;
  ByteBlock block;
  /// The prepared channels of each operand. Null if the operand is the same for
  /// all channels or differs between pixels.
  llvm::SmallVector<mlir::Value> prepared;
  Index firstPrepared;
  BytePacking packing;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_BYTEBLOCKS_H
