//===- HeadMultiplier.h - products of attentions -------------- -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_ATTENTION_HEADMULTIPLIER_H
#define INGOT_PASSES_CUDA_ATTENTION_HEADMULTIPLIER_H

#include "passes/cuda/attention/Attention.h"
#include "passes/cuda/kernels/Code.h"

#include <memory>

namespace ingot::cuda {

/// Multiplies the tiles of a step. A thread has `numRows` queries of the block,
/// `numColumns` keys of the step, and `numOutputs` elements of the result.
/// Pairs of these elements are neighbors. The scores of a query are in
/// `lanesOfRow` neighboring threads.
class HeadMultiplier {
public:
  virtual ~HeadMultiplier();

  /// Makes a multiplier: by matrix units, or by multiply-adds of f32.
  /// `probabilities` is the shared memory behind the tiles.
  static std::unique_ptr<HeadMultiplier> create(Code &code,
                                                const Attention &attention,
                                                Value thread,
                                                Value probabilities);

  virtual Value rowAt(int64_t i) = 0;
  virtual Value columnAt(int64_t j) = 0;
  virtual Value outputAt(int64_t j) = 0;
  /// Returns the products of the thread's queries and keys, by rows.
  virtual llvm::SmallVector<Value> scores(Value queries, Value keys) = 0;
  /// Returns the sums after the probabilities times the values are added.
  virtual llvm::SmallVector<Value>
  accumulate(llvm::ArrayRef<Value> probabilities, Value values,
             llvm::ArrayRef<Value> sums) = 0;

  const int64_t numRows, numColumns, numOutputs, lanesOfRow;

protected:
  HeadMultiplier(Code &code, const Attention &attention, Value thread,
                 int64_t numRows, int64_t lanesOfRow);
  /// Returns the address of a chunk, of 16 bytes, of a row of a tile.
  Value chunkAt(Value tile, int64_t rowBytes, Value row, Value chunk);

  Code &code;
  const Attention &attention;
  const int64_t depth, width, keys;
  /// The thread's number in its warp, and the first row of the warp.
  Value lane, warpRow;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_ATTENTION_HEADMULTIPLIER_H
