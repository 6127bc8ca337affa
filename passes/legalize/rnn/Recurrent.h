//===- Recurrent.h - common form of RNN, GRU and LSTM -----------*- C++ -*-===//
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

/// Properties that all directions of a recurrent operator share.
struct Recurrence {
  int64_t gates = 1, hidden = 0, directions = 1;
  bool reverseFirst = false, batchFirst = false;
  /// True if weights are int8. Their left factors are then quantized at run
  /// time.
  bool quantizes = false;
  /// True if the output of every step is used.
  bool needsAll = false;
  /// The input of shape [T, B, I].
  Value x;
  /// Lengths of the sequences, [B, 1] of i64, or null.
  Value lengths;
};

/// Computes the next states from the input's contribution to the gates, [B,
/// gates H], and from the current states, [B, H] each. The first state is the
/// output.
using Cell = std::function<SmallVector<Value>(Node &, Value input,
                                              ArrayRef<Value> states)>;

struct Direction {
  /// Weights [gates H, I] and [gates H, H]. Quantized weights are [I, gates H]
  /// and [H, gates H], after nn.dequantize.
  Value w, r;
  /// Biases [gates H], or null. inputBias is added to the input's product.
  Value inputBias, stateBias;
  SmallVector<Value> initial;
  Cell cell;
};

/// Completes a direction: inputBias and cell.
using MakeDirection = LogicalResult (*)(Node &, const Recurrence &, int64_t d,
                                        Direction &);

/// Rewrites the node to one loop per direction. If `quantized` is true, inputs
/// 8 to 11 have the weights' scales and zero points.
LogicalResult legalizeRecurrence(Node &node, int64_t gates, size_t states,
                                 MakeDirection makeDirection,
                                 bool quantized = false);

/// Returns direction d of an operand whose first dimension is the direction.
Value takeDirection(Node &node, Value x, int64_t d);

/// Checks that weights are int8 and that scales and zero points have one value
/// per direction, or one per column.
LogicalResult checkWeightBytes(Node &node);

/// Dequantizes direction d of int8 weights. Their scale is input `scale`. Their
/// zero point is the input after it.
FailureOr<Value> dequantizeDirection(Node &node, size_t input, size_t scale,
                                     int64_t d);

/// Multiplies x by weights of dequantizeDirection. x is quantized by its range
/// at run time.
Value multiplyByBytes(Node &node, Value x, Value weights, Value bias);

/// An activation function. It clips its operand first if the node says so.
using Activation = std::function<Value(Node &, Value)>;

/// Returns the activations of direction d, from activations, activation_alpha
/// and activation_beta.
FailureOr<SmallVector<Activation>>
readActivations(Node &node, int64_t d, ArrayRef<StringRef> defaults,
                int64_t directions);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_RNN_RECURRENT_H
