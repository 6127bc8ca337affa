//===- Heads.h - what attention is made of ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_ATTENTION_HEADS_H
#define INGOT_PASSES_LEGALIZE_ATTENTION_HEADS_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// (batch, steps, heads width) as (batch, steps, heads, width); reports a last
/// dimension that is open or does not divide.
FailureOr<Value> splitHeads(Node &node, Value x, int64_t heads, StringRef name);
/// (batch, steps, heads, width) as (batch, heads, steps, width), and back.
Value swapHeads(Node &node, Value x);
/// (batch, heads, steps, width) as (batch, steps, heads width).
Value mergeHeads(Node &node, Value x);

/// softmax(cap(scale q kᵀ) + mask) v of factors (batch, heads, steps, width),
/// as the graph passes know attention. The mask, which may be null, broadcasts
/// to the scores; `cap` bounds scores by its tanh, unless it is 0.
struct AttentionParts {
  Value q, k, v, mask;
  double scale = 1, cap = 0;
};
FailureOr<Value> attend(Node &node, const AttentionParts &parts);

/// 1 / sqrt of the width of heads, unless the attribute `scale` says otherwise.
double scaleOf(Node &node, Value q);

/// The sum of two masks, either of which may be null.
FailureOr<Value> addMasks(Node &node, Value a, Value b);

/// What is added to scores (steps, keys): 0 up to the key that step s sees
/// last, which is `past` + s, then the lowest number.
Value causalMask(Node &node, OpFoldResult steps, OpFoldResult keys,
                 OpFoldResult past);

/// Requires dimension `d` of x, called `name`, to have `size` elements.
LogicalResult isOnly(Node &node, Value x, int64_t d, OpFoldResult size,
                     StringRef name);

/// Turns the first elements of each head of x (batch, steps, heads, width), or
/// (batch, heads, steps, width), by angles of caches (positions, half of what
/// is turned), whose rows `positions` (batch, steps) names; they have to be
/// checked. Without positions the caches have a row for each step of the batch.
struct Rotation {
  Value cos, sin, positions;
  bool isInterleaved = false;
  /// Whether the run was required to have caches of half the heads' width.
  bool isWhole = false;
  int64_t headsAxis = 2;
};
FailureOr<Value> rotate(Node &node, Value x, const Rotation &rotation);

/// Caches of angles: a row for each position, of half of what is turned.
LogicalResult checkCaches(Node &node, size_t cos, size_t sin);
/// A list (batch, steps) from one of starts, (batch) or of one element.
Value countFrom(Node &node, Value starts, OpFoldResult batch,
                OpFoldResult steps);
/// Requires what ONNX's RotaryEmbedding says about sizes.
LogicalResult requireRotaryEmbedding(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ATTENTION_HEADS_H
