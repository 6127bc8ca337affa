//===- Attention.h - building blocks of attention ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_ATTENTION_ATTENTION_H
#define INGOT_PASSES_LEGALIZE_ATTENTION_ATTENTION_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// Reshapes (batch, steps, heads width) to (batch, steps, heads, width).
/// Reports a last dimension that is dynamic or not a multiple of `heads`.
FailureOr<Value> splitHeads(Node &node, Value x, int64_t heads, StringRef name);
/// Transposes (batch, steps, heads, width) to (batch, heads, steps, width), or
/// back.
Value swapHeads(Node &node, Value x);
/// Reshapes (batch, heads, steps, width) to (batch, steps, heads width).
Value mergeHeads(Node &node, Value x);

/// Operands of attention: softmax(cap(scale q kᵀ) + mask) v, with q, k and v of
/// shape (batch, heads, steps, width). The graph passes recognize attention in
/// this form. The mask may be null. A mask broadcasts to the scores. If `cap`
/// is not 0, it bounds a score by cap tanh(score / cap).
struct AttentionParts {
  Value q, k, v, mask;
  double scale = 1, cap = 0;
};
FailureOr<Value> attend(Node &node, const AttentionParts &parts);

/// Returns the attribute `scale`, or 1 / sqrt(head width) if the attribute is
/// absent.
double scaleOf(Node &node, Value q);

/// Adds two masks. Either may be null.
FailureOr<Value> addMasks(Node &node, Value a, Value b);

/// Returns a causal mask to add to scores (steps, keys). In row s, keys 0 to
/// `past` + s get 0, and later keys get the lowest float.
Value causalMask(Node &node, OpFoldResult steps, OpFoldResult keys,
                 OpFoldResult past);

/// Requires dimension `d` of x, called `name`, to have `size` elements.
LogicalResult isOnly(Node &node, Value x, int64_t d, OpFoldResult size,
                     StringRef name);

/// Operands of a rotary embedding, which rotates the first elements of each
/// head of x. The shape of x is (batch, steps, heads, width) or (batch, heads,
/// steps, width). The caches of angles have the shape (positions, half the
/// rotated width). `positions` (batch, steps) holds row indices that are
/// already checked. If `positions` is null, caches have a row for each step of
/// each batch element.
struct Rotation {
  Value cos, sin, positions;
  bool isInterleaved = false;
  /// True if a check already requires caches of half the heads' width.
  bool isWhole = false;
  int64_t headsAxis = 2;
};
FailureOr<Value> rotate(Node &node, Value x, const Rotation &rotation);

/// Checks the caches of angles: a row per position, half the rotated width.
LogicalResult checkCaches(Node &node, size_t cos, size_t sin);
/// Returns numbers (batch, steps) that count up along the steps. They begin
/// with `starts`, of shape (batch) or (1).
Value countFrom(Node &node, Value starts, OpFoldResult batch,
                OpFoldResult steps);
/// Requires the sizes that ONNX specifies for RotaryEmbedding.
LogicalResult requireRotaryEmbedding(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ATTENTION_ATTENTION_H
