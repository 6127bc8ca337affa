//===- AttentionEmitter.h - code of attention -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of attention. AttentionToVector.cpp handles all keys of a head at
// once, AttentionBlocks.cpp handles blocks of keys. AttentionBF16.cpp has the
// parts that differ for products of bf16.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H

#include "passes/cpu/kernels/rows/RowEmitter.h"

namespace ingot::cpu {

/// Queries of one head: `count` queries from `first` on, in `vectors` vectors.
/// If the number of queries is open, lanes behind query `last` repeat query
/// `last`.
struct QueryBlock {
  Index sample, head, first;
  int64_t count, vectors;
  std::optional<Index> last = std::nullopt;
};

struct AttentionEmitter;

/// The parts of attention that differ for products of bf16. The scores do not
/// support a mask yet.
struct NarrowAttention {
  explicit NarrowAttention(AttentionEmitter &all);

  /// Packs the elements `rows` of the queries, beginning with element
  /// `element`. A lane holds a query.
  void packQueries(const QueryBlock &block, llvm::ArrayRef<mlir::Value> rows,
                   Index element, int64_t vector);
  void finishQueries(const QueryBlock &block);
  void sumScores(const QueryBlock &block, Index key, Index count);
  void packPowers(const QueryBlock &block, Index key, Index count);
  void addValues(const QueryBlock &block, Index key, Index count);

private:
  void packValues(const QueryBlock &block, Index key, Index count);
  /// Rows of bf16, `pitch` elements apart.
  struct NarrowRows {
    mlir::Value data;
    Index at;
    int64_t pitch;
  };
  /// Multiplies a tile and stores its sums from `to[at]` on.
  void multiply(const TileWeights &pairs, const NarrowRows &rows, Index steps,
                mlir::Value to, Index at);

  AttentionEmitter &all;
  IndexBuilder &b;
  const AttentionPlan &plan;
  int64_t lanes, size;
  /// Buffers on the stack, of bf16: pairs of elements of the queries, rows of
  /// keys, pairs of keys of the values, and rows of exponentials. `tileSums` is
  /// a tile of sums in f32.
  mlir::Value queryPairs, keyRows, valuePairs, powerRows, tileSums;
};

struct AttentionEmitter {
  AttentionEmitter(mlir::OpBuilder &builder, cpu::AttentionOp op);

  void emit(mlir::Value task);
  void emitBlock(const QueryBlock &block);
  void packQueries(const QueryBlock &block);
  void sumScores(const QueryBlock &block);
  mlir::Value addMask(const QueryBlock &block, mlir::Value score, Index key,
                      int64_t vector);
  /// Stores the scores of `count` keys, beginning with `key`, from row `place`
  /// on.
  void sumTile(const QueryBlock &block, int64_t count, Index key, Index place);
  void exponentiate(const QueryBlock &block);
  /// Returns a vector of weighed values times `factor`, the reciprocal of the
  /// query's sum of exponentials.
  mlir::Value normalize(mlir::Value weighed, mlir::Value factor);
  void multiplyValues(const QueryBlock &block);

  /// Emits attention by blocks of keys. For each query, a task keeps the
  /// largest score so far, the sum of exponentials and the weighed sum of
  /// values.
  void emitByBlocks(const QueryBlock &block);
  void startSums(const QueryBlock &block);
  void sumScores(const QueryBlock &block, Index key, Index count);
  /// Adds the mask to the scores of this block, unless this is already done,
  /// and raises the maxima to the scores. Returns the factors by which the
  /// earlier sums shrink.
  Accumulators raiseMaxima(const QueryBlock &block, Index key, Index count);
  void addPowers(const QueryBlock &block, const Accumulators &added);
  void exponentiate(const QueryBlock &block, Index key, Index count);
  void addValues(const QueryBlock &block, Index key, Index count);
  /// Calls `body` for each tile of `weighed`, with the tile's first column and
  /// first query.
  void forEachValueTile(const QueryBlock &block,
                        llvm::function_ref<void(const Tile &tile, Index column,
                                                Index first)>
                            body);
  void storeResults(const QueryBlock &block);

  Tile tileOf(const QueryBlock &block) const {
    return fullTile(plan.target, {1, block.vectors});
  }
  int64_t width(const QueryBlock &block) const { return block.vectors * lanes; }
  /// Returns the offset of vector `v` of the scores of key `key`.
  Index placeOf(const QueryBlock &block, Index key, int64_t v) {
    return b.add(b.mul(key, width(block)), v * lanes);
  }
  mlir::Value loadScores(const QueryBlock &block, Index key, int64_t v);
  /// Loads a vector of f32 from `from[at]`; `storeVector` stores any vector to
  /// `to[at]`.
  mlir::Value loadVector(mlir::Value from, Index at);
  void storeVector(mlir::Value vector, mlir::Value to, Index at);

  IndexBuilder b;
  cpu::AttentionOp op;
  AttentionPlan plan;
  int64_t lanes;
  Flat src, keys, values;
  /// The mask; empty if there is none.
  llvm::SmallVector<Flat> mask;
  Output output;
  Index numQueries, numKeys;
  int64_t size;
  /// Buffers on the stack, whose rows have one lane a query of the block.
  /// `queries` has `size` rows, `scores` one row a key, and `factors` one row.
  mlir::Value queries, scores, factors;
  /// Buffers for blocks of keys: the maxima, the sums of exponentials, and the
  /// weighed values.
  mlir::Value maxima, sums, weighed;
  std::optional<NarrowAttention> narrow;
};

/// Transposes a square: element j of row i becomes element i of row j. Each
/// step exchanges one bit of the row index with the same bit of the lane index.
void transpose(IndexBuilder &b, llvm::MutableArrayRef<mlir::Value> rows);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H
