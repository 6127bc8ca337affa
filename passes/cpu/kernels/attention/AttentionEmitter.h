//===- AttentionEmitter.h - code of attention -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of attention. AttentionToVector.cpp handles all keys of a head at
// once, AttentionBlocks.cpp handles blocks of keys. AttentionBF16.cpp has the
// parts that differ for products of bf16, AttentionBytes.cpp those of bytes.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H
#define INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H

#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/support/FloatBuilder.h"

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

/// Attention of bytes. Words are i32 that hold four bytes.
struct ByteAttention {
  explicit ByteAttention(AttentionEmitter &all);

  /// Emits attention with all keys at once.
  void emitBlock(const QueryBlock &block);
  /// Emits attention by blocks of keys, in two passes. The first one finds the
  /// maxima and the sums of exponentials, because a probability is rounded only
  /// when both are known.
  void emitByBlocks(const QueryBlock &block);
  /// Stores the scores of `count` keys, beginning with `key`, from row `place`
  /// on.
  void sumTile(const QueryBlock &block, int64_t count, Index key, Index place);

private:
  void packQueries(const QueryBlock &block);
  /// Sums the elements of `count` keys, beginning with `key`.
  void sumKeys(const QueryBlock &block, Index key, Index count);
  /// Converts sums to scores, with the model's roundings and the mask.
  mlir::Value scoreOf(const QueryBlock &block, mlir::Value sum, Index key,
                      int64_t vector);
  /// The exponential of the score in row `place`.
  using PowerFn = llvm::function_ref<mlir::Value(Index place, int64_t vector)>;
  /// Packs the probabilities of `count` keys from row `place` on, and returns
  /// `sums` plus their sums.
  Accumulators packPowers(const QueryBlock &block, Index group, int64_t count,
                          const Accumulators &sums, PowerFn power);
  /// Packs the values of `count` keys of a group. `key` is the first key of the
  /// block, and `last` the last key.
  void packValues(const QueryBlock &block, Index key, Index group,
                  int64_t count, std::optional<Index> last = std::nullopt);
  /// Adds probabilities times values of `groups` groups to `start`.
  Accumulators multiplyTile(const QueryBlock &block, const Tile &tile,
                            Index column, Index first, Index groups,
                            const Accumulators &start);
  void multiplyValues(const QueryBlock &block);
  void addPowers(const QueryBlock &block, Index count);
  void addValues(const QueryBlock &block, Index key, Index count);
  void storeResults(const QueryBlock &block);
  /// Returns sums as results in f32.
  Accumulators resultsOf(const Accumulators &sums);

  mlir::VectorType wordsType(int64_t words) {
    return mlir::VectorType::get({words}, b.b.getI32Type());
  }
  mlir::Value wordsOf(int64_t value) {
    return splatInt(b, wordsType(lanes), value);
  }
  mlir::Value loadRow(mlir::Value words, Index at);
  mlir::Value loadSplat(mlir::Value words, Index at);
  mlir::Value loadWords(mlir::Value bytes, Index at, int64_t words);
  mlir::Value flipSigns(mlir::Value words);
  /// Multiplies unsigned by signed bytes, and adds the products of each word.
  mlir::Value dot(mlir::Value bytes, mlir::Value weights, mlir::Value sum);
  /// Rounds x to an integer within the bounds of `rounding`.
  mlir::Value round(mlir::Value x, mlir::DenseF32ArrayAttr rounding);
  /// Multiplies by a number, unless this is 1.
  mlir::Value times(mlir::Value x, double factor);
  elementary::FloatBuilder floats();

  AttentionEmitter &all;
  IndexBuilder &b;
  const AttentionPlan &plan;
  cpu::AttentionBytesAttr numbers;
  int64_t lanes, size, columns, keys;
  /// True if queries change their sign, so that one factor of the scores is
  /// signed and the other is not.
  bool flipsQueries;
  /// Zero points of the queries and values as they are multiplied.
  int64_t queryZero, valueZero;
  /// Buffers on the stack. `queryWords` has a row of queries for four elements
  /// of a head, `powerWords` one for four keys. `valueWords` has a row of
  /// columns for four keys. The terms are what zero points add to sums.
  mlir::Value queryWords, powerWords, valueWords, queryTerms, keyTerms,
      valueTerms;
  /// The sums of values, for blocks of keys.
  mlir::Value weighedWords;
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
  std::optional<ByteAttention> bytes;
};

/// Transposes a square: element j of row i becomes element i of row j. Each
/// step exchanges one bit of the row index with the same bit of the lane index.
void transpose(IndexBuilder &b, llvm::MutableArrayRef<mlir::Value> rows);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_ATTENTION_ATTENTIONEMITTER_H
