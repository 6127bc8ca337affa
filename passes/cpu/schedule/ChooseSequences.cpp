//===- ChooseSequences.cpp - schedules of recurrences and attention -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::shapeOf;

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// The number of register tiles in a task. The tiles of a task share the
/// recurrent weights, which each step reads once. The first number is for
/// weights that fit in the second-level cache, the second for larger weights.
static constexpr int64_t kTilesPerStep = 2, kTilesPerLongStep = 4;

cpu::ScheduleAttr cpu::chooseSchedule(cpu::RecurrentOp op) {
  TargetInfo target = TargetInfo::of(op);
  int64_t width = INT64_MAX, bytes = 0;
  for (int64_t i = 0; i < int64_t(op.getGates().size()); ++i) {
    width =
        std::min(width, cpu::PackedWeights(op.weightsOf(0, i)).width);
    bytes += bytesOf(op.weightsOf(0, i));
  }
  RegisterTile tile = chooseTile(target, Product::f32, width);
  int64_t batch = shapeOf(op.state(0, 0))[0];
  // Makes larger tasks for large weights, because each task reads all recurrent
  // weights at each step.
  int64_t tiles = bytes > target.l2 ? kTilesPerLongStep : kTilesPerStep;
  if (ShapedType::isDynamic(batch)) {
    // Makes tiles of a fixed size. A run splits its sequences into such tiles,
    // and the remaining sequences into halves, quarters and so on.
    tile.rows = target.numRegisters == 32 ? 8 : 4;
  } else {
    tile.rows = evenTile(std::max<int64_t>(batch, 1), tile.rows);
    // Makes at least two tasks if possible, because this gains more than
    // sharing the weights.
    int64_t all = llvm::divideCeil(batch, tile.rows) * op.numDirections();
    tiles = std::clamp<int64_t>(all / 2, 1, tiles);
  }
  if (tile.rows == 1)
    tile.vectors = vectorsOfOneRow(target, width);
  return ScheduleBuilder(op).tile(tile).grid({tiles * tile.rows, 1, false});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

// Queries lie side by side in the lanes of vectors. Scores have one row for
// each key, so the softmax works on whole vectors. Only queries are transposed:
// the products read single elements of keys and of probabilities, and vectors
// of values. There are two vectors of queries, because products have two
// vectors of columns.
//
// Products of bf16 round and pack keys and values, which does not pay for a few
// queries.
Product cpu::attentionProduct(cpu::AttentionOp op, const TargetInfo &target) {
  if (op.getBytes())
    return target.hasVNNI ? Product::int8Dot : Product::int8Wide;
  constexpr int64_t kFewQueries = 8;
  int64_t queries = shapeOf(op.getSrc())[1];
  bool isFew = !ShapedType::isDynamic(queries) && queries < kFewQueries;
  if (!isBF16(op) || isFew)
    return Product::f32;
  if (target.hasBF16Tiles)
    return Product::bf16Tiles;
  return target.hasFastBF16 ? Product::bf16Dot : Product::f32;
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::AttentionOp op) {
  TargetInfo target = TargetInfo::of(op);
  int64_t queries = shapeOf(op.getSrc())[1];
  int64_t keys = shapeOf(op.getKeys())[1], width = shapeOf(op.getDst())[3];
  Product product = attentionProduct(op, target);
  RegisterTile scores = chooseTile(target, product, 2 * target.lanes);
  RegisterTile tile = chooseTile(target, product, width);
  // Does not change the rows of the tiles, because all AMX tiles of a kernel
  // have the same number of rows. The stack has memory for rows that do not
  // exist.
  if (usesTiles(product))
    return ScheduleBuilder(op).tile(tile).scores(scores);
  if (!ShapedType::isDynamic(keys))
    scores.rows = evenTile(keys, scores.rows);
  int64_t perTask = scores.vectors * target.lanes;
  int64_t atOnce = ShapedType::isDynamic(queries) ||
                           ShapedType::isDynamic(keys)
                       ? perTask
                       : std::min(queries, perTask);
  tile.rows = evenTile(atOnce, tile.rows);
  return ScheduleBuilder(op).tile(tile).scores(scores);
}
