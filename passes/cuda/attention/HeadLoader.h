//===- HeadLoader.h - copies of heads to shared memory -------- -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_ATTENTION_HEADLOADER_H
#define INGOT_PASSES_CUDA_ATTENTION_HEADLOADER_H

#include "passes/cuda/attention/Attention.h"
#include "passes/cuda/kernels/Code.h"

namespace ingot::cuda {

/// Copies rows of one head from global to shared memory. All threads of the
/// block take part. Rows that the head does not have become 0.
class HeadLoader {
public:
  /// The data of all heads, `B, L, H, D`, which are copied `numRows` rows at a
  /// time in pieces of `pieceBytes`.
  struct Source {
    Value memref;
    const StridedLayout &layout;
    int64_t pieceBytes, numRows;
  };

  /// The head of a block, and the thread of the block.
  struct Place {
    Value thread, batch, head;
  };

  HeadLoader(Code &code, const Attention &attention, const Source &source,
             const Place &place);

  /// Copies the rows from `firstRow` on to the tile.
  void load(Value firstRow, Value tile) const;
  /// Returns the bytes of a tile.
  int64_t tileBytes() const { return numRows * rowBytes; }

private:
  void copyPiece(Value piece, Value firstRow, Value tile) const;

  Code &code;
  StridedLayout layout;
  int64_t pieceBytes, numRows, threads, rowBytes;
  Value thread, address, base;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_ATTENTION_HEADLOADER_H
