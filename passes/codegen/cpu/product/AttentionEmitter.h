//===- AttentionEmitter.h - code of one attention ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AttentionToVector.cpp has all keys of a head at once, AttentionBlocks.cpp
// blocks of them.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CODEGEN_CPU_PRODUCT_ATTENTIONEMITTER_H
#define INGOT_PASSES_CODEGEN_CPU_PRODUCT_ATTENTIONEMITTER_H

#include "passes/codegen/cpu/rows/Rows.h"

namespace ingot::codegen {

/// Queries of one head, from `first` on: `count` of them in `vectors`. Where
/// only a run knows how many there are, those behind `last` are the last one
/// again.
struct QueryBlock {
  Index sample, head, first;
  int64_t count, vectors;
  std::optional<Index> last = std::nullopt;
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
  void exponentiate(const QueryBlock &block, Index count);
  void addValues(const QueryBlock &block, Index key, Index count);
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
};

} // namespace ingot::codegen

#endif // INGOT_PASSES_CODEGEN_CPU_PRODUCT_ATTENTIONEMITTER_H
