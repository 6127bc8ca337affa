//===- LinearOperator.h - linear ops as one convolution ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes chains of linear ops as one convolution. A LinearOperator combines
// convolutions, per-channel scales and shifts, average pools, crops and pads.
// Outside of its bounds, the data of the convolution is zero or has one value
// per channel. Chains can be composed and sums can be added if the result is
// exact.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_MERGE_LINEAROPERATOR_H
#define INGOT_PASSES_GRAPH_MERGE_LINEAROPERATOR_H

#include "dialects/nn/NNDialect.h"

namespace ingot::graph {

/// A spatial dimension of an operator. The result at position p reads the
/// operand at p * stride + offset + t * step, for taps t in [0, count). The
/// result has floor((size + slack) / stride) + 1 positions.
struct OperatorDim {
  int64_t offset = 0, step = 1, count = 1, stride = 1, slack = -1;

  int64_t last() const { return offset + (count - 1) * step; }
  /// Returns true if a tap may read outside of the operand, for some operand
  /// size.
  bool readsOutside() const { return offset < 0 || slack + last() + 1 > 0; }
  bool isIdentity() const {
    return offset == 0 && count == 1 && stride == 1 && slack == -1;
  }
  /// Returns true if the dimension can be composed with another one without an
  /// overflow.
  bool isBounded() const;
};

struct LinearOperator {
  int64_t inputs = 0, outputs = 0, groups = 1;
  llvm::SmallVector<OperatorDim> dims;
  /// Weights of shape outputs × inputs / groups × taps, and one bias for each
  /// output. Both are empty in an operator that only describes geometry.
  std::vector<double> weights, bias;
  /// Value of each input outside of the operand's bounds; empty stands for
  /// zeros.
  std::vector<double> outside;

  int64_t inputsOfGroup() const { return groups ? inputs / groups : 0; }
  /// Numbers of taps and of weights. They saturate instead of overflowing.
  int64_t taps() const;
  int64_t numWeights() const;
  /// Returns true if the operator is small enough to compute its weights. This
  /// must be checked because two small operators may compose to a far larger
  /// one.
  bool isBounded() const;
  bool hasBias() const;

  /// Returns the identity on each channel. Leaves the weights empty if the
  /// operator is not bounded.
  static LinearOperator identity(int64_t channels, int64_t spatialDims);
};

/// Returns the operator of `op` on its data operand, and sets `data` to that
/// operand. Computes weights only if `withWeights`. `channelsLast` is the
/// layout of ops that do not specify one. Returns nullopt if `op` is not
/// linear, or its operator is not bounded.
std::optional<LinearOperator> getLinearOperator(mlir::Operation *op,
                                                bool channelsLast,
                                                bool withWeights,
                                                mlir::Value &data);

/// Returns the operator that applies `first` and then `second`. Returns nullopt
/// if the result would differ at the borders, or if the composed operator is
/// not bounded. If the operators have no weights, checks only the geometry of
/// the borders.
std::optional<LinearOperator> compose(const LinearOperator &first,
                                      const LinearOperator &second);

/// Returns the geometry of the sum: the smallest kernel that covers both.
/// Returns nullopt if the strides differ, or the result is not bounded.
std::optional<LinearOperator> sumGeometry(const LinearOperator &a,
                                          const LinearOperator &b);

/// Adds the weights of `part` to `sum`. Precondition: the kernel of `sum`
/// covers the kernel of `part`.
void accumulate(LinearOperator &sum, const LinearOperator &part);

/// Returns the pads with which an nn.conv of this operator maps spatial sizes
/// `operand` to `result`. Returns nullopt if there are no such pads.
std::optional<llvm::SmallVector<int64_t>>
getPads(const LinearOperator &linear, llvm::ArrayRef<int64_t> operand,
        llvm::ArrayRef<int64_t> result);

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_MERGE_LINEAROPERATOR_H
