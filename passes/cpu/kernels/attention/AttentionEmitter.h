//===- AttentionEmitter.h - code of one attention ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AttentionToVector.cpp has all keys of a head at once, AttentionBlocks.cpp
// blocks of them, and AttentionOfBF16.cpp what is different where bf16 is
// multiplied.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H

#include "passes/cpu/kernels/rows/Rows.h"

namespace ingot::cpu {

/// Queries of one head, from `first` on: `count` of them in `vectors`. Where
/// only a run knows how many there are, those behind `last` are the last one
/// again.
struct QueryBlock {
  Index sample, head, first;
  int64_t count, vectors;
  std::optional<Index> last = std::nullopt;
};

struct AttentionEmitter;

/// The parts of attention that differ for products of bf16. Scores have no mask
/// yet.
struct NarrowAttention {
  explicit NarrowAttention(AttentionEmitter &all);

  /// Packs `rows` of elements of the queries in a vector's lanes, from
  /// `element` on.
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
  /// Sums of a tile, stored to `to[at]` and on.
  void multiply(const TileWeights &pairs, const NarrowRows &rows, Index steps,
                mlir::Value to, Index at);

  AttentionEmitter &all;
  IndexBuilder &b;
  const AttentionPlan &plan;
  int64_t lanes, size;
  /// On the stack: pairs of elements of the queries, rows of keys, pairs of
  /// keys of the values, rows of powers; and of f32 a tile of sums.
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
  /// The scores of `count` keys from `key` on, stored from row `place` on.
  void sumTile(const QueryBlock &block, int64_t count, Index key, Index place);
  void exponentiate(const QueryBlock &block);
  /// A vector of weighed values times `factor`, which is 1 over the sum of the
  /// query's powers.
  mlir::Value normalize(mlir::Value weighed, mlir::Value factor);
  void multiplyValues(const QueryBlock &block);

  /// By blocks of keys: each task's queries keep the largest score so far, the
  /// sum of powers and the values that these weigh.
  void emitByBlocks(const QueryBlock &block);
  void startSums(const QueryBlock &block);
  void sumScores(const QueryBlock &block, Index key, Index count);
  /// The maxima with this block's scores, to which a mask was added where there
  /// is none yet; and how much less all so far counts.
  Accumulators raiseMaxima(const QueryBlock &block, Index key, Index count);
  void addPowers(const QueryBlock &block, const Accumulators &added);
  void exponentiate(const QueryBlock &block, Index key, Index count);
  void addValues(const QueryBlock &block, Index key, Index count);
  /// Calls `body` for each tile of `weighed`, whose first column and query it
  /// is given.
  void forEachValueTile(const QueryBlock &block,
                        llvm::function_ref<void(const Tile &tile, Index column,
                                                Index first)>
                            body);
  void storeResults(const QueryBlock &block);

  Tile tileOf(const QueryBlock &block) const {
    return fullTile(plan.target, {1, block.vectors});
  }
  int64_t width(const QueryBlock &block) const { return block.vectors * lanes; }
  /// Where the scores of key `key` are, and vector `v` of them.
  Index placeOf(const QueryBlock &block, Index key, int64_t v) {
    return b.add(b.mul(key, width(block)), v * lanes);
  }
  mlir::Value loadScores(const QueryBlock &block, Index key, int64_t v);
  /// A vector of f32 at `from[at]`, and any vector stored to `to[at]`.
  mlir::Value loadVector(mlir::Value from, Index at);
  void storeVector(mlir::Value vector, mlir::Value to, Index at);

  IndexBuilder b;
  cpu::AttentionOp op;
  AttentionPlan plan;
  int64_t lanes;
  Flat src, keys, values;
  /// One or none.
  llvm::SmallVector<Flat> mask;
  Output output;
  Index numQueries, numKeys;
  int64_t size;
  /// On the stack: rows of a block's queries, `size` of them and one for each
  /// key, and a number for each query.
  mlir::Value queries, scores, factors;
  /// And for blocks of keys two numbers more, and a row of values.
  mlir::Value maxima, sums, weighed;
  std::optional<NarrowAttention> narrow;
};

/// Element j of row i becomes element i of row j: rows and lanes change places
/// one bit of their numbers after the other.
void transpose(IndexBuilder &b, llvm::MutableArrayRef<mlir::Value> rows);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H
