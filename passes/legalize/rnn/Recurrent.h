//===- Recurrent.h - a loop over time around a cell -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_RNN_RECURRENT_H
#define INGOT_PASSES_LEGALIZE_RNN_RECURRENT_H

#include "passes/legalize/core/Helpers.h"

#include <functional>

namespace ingot::legalize {

/// What all directions of a recurrent operator share.
struct Recurrence {
  int64_t gates = 1, hidden = 0, directions = 1;
  bool reverseFirst = false, batchFirst = false;
  /// Whether weights are bytes, which what they multiply is quantized for.
  bool quantizes = false;
  /// Whether the output of every step is used.
  bool needsAll = false;
  /// [T, B, I].
  Value x;
  /// Lengths of the sequences, [B, 1] of i64, or null.
  Value lengths;
};

/// The next states from what the input adds to the gates, [B, gates H], and the
/// states, [B, H] each; the first is the output.
using Cell = std::function<SmallVector<Value>(Node &, Value input,
                                              ArrayRef<Value> states)>;

struct Direction {
  /// [gates H, I], [gates H, H]; of bytes [I, gates H], [H, gates H], behind
  /// their nn.dequantize.
  Value w, r;
  /// [gates H], or null; the first is added to the input's product.
  Value inputBias, stateBias;
  SmallVector<Value> initial;
  Cell cell;
};

/// Completes a direction (inputBias, cell).
using MakeDirection = LogicalResult (*)(Node &, const Recurrence &, int64_t d,
                                        Direction &);

/// Rewrites the node into one loop a direction. Weights that are `quantized`
/// have their scales and zero points in inputs 8 to 11.
LogicalResult legalizeRecurrence(Node &node, int64_t gates, size_t states,
                                 MakeDirection makeDirection,
                                 bool quantized = false);

/// Direction d of an operand whose first dimension is the directions.
Value takeDirection(Node &node, Value x, int64_t d);

/// Whether weights are bytes, each with scales and zero points that are one
/// number a direction, or one for each of its columns.
LogicalResult checkWeightBytes(Node &node);

/// Direction d of weights of bytes, behind their scale and zero point, which
/// are inputs `scale` and the one behind.
FailureOr<Value> dequantizeDirection(Node &node, size_t input, size_t scale,
                                     int64_t d);

/// x, quantized by its range in the run, times weights of dequantizeDirection.
Value multiplyByBytes(Node &node, Value x, Value weights, Value bias);

/// An activation function, after the node's clip.
using Activation = std::function<Value(Node &, Value)>;

/// The activations of direction d, from activations, activation_alpha and
/// activation_beta.
FailureOr<SmallVector<Activation>>
readActivations(Node &node, int64_t d, ArrayRef<StringRef> defaults,
                int64_t directions);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_RNN_RECURRENT_H
