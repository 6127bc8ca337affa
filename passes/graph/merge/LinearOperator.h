//===- LinearOperator.h - linear ops as one convolution ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A LinearOperator is what a chain of convolutions, per-channel scales and
// shifts, average poolings, croppings and paddings computes: one convolution
// over data that is zero, or one number a channel, outside of its bounds.
// Chains compose and sums add, where the result is exact.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_MERGE_LINEAROPERATOR_H
#define INGOT_PASSES_GRAPH_MERGE_LINEAROPERATOR_H

#include "dialects/nn/NNDialect.h"

namespace ingot::graph {

/// One spatial dimension: result position p reads the operand at
/// p stride + offset + t step, for taps t in [0, count). The result has
/// floor((size + slack) / stride) + 1 positions.
struct OperatorDim {
  int64_t offset = 0, step = 1, count = 1, stride = 1, slack = -1;

  int64_t last() const { return offset + (count - 1) * step; }
  /// Whether any tap may read outside of the operand, whatever its size.
  bool readsOutside() const { return offset < 0 || slack + last() + 1 > 0; }
  bool isIdentity() const {
    return offset == 0 && count == 1 && stride == 1 && slack == -1;
  }
  /// Whether it can be composed with another without an overflow.
  bool isBounded() const;
};

struct LinearOperator {
  int64_t inputs = 0, outputs = 0, groups = 1;
  llvm::SmallVector<OperatorDim> dims;
  /// outputs x inputs / groups x taps, and one bias an output; empty while
  /// only the geometry is looked at.
  std::vector<double> weights, bias;
  /// What the operand counts as outside of its bounds, for each input; empty
  /// is zero.
  std::vector<double> outside;

  int64_t inputsOfGroup() const { return groups ? inputs / groups : 0; }
  /// These two are held at the greatest number rather than to overflow.
  int64_t taps() const;
  int64_t numWeights() const;
  /// Whether it is small enough for its weights to be computed. What two small
  /// operators make together may be far larger than both.
  bool isBounded() const;
  bool hasBias() const;

  /// Every channel to itself; the geometry alone where it is not bounded.
  static LinearOperator identity(int64_t channels, int64_t spatialDims);
};

/// The operator of one op from its data operand (set in `data`), with weights
/// if asked for; nullopt if it has none, or one that is not bounded.
/// `channelsLast` is the layout of the data for ops that do not say.
std::optional<LinearOperator> getLinearOperator(mlir::Operation *op,
                                                bool channelsLast,
                                                bool withWeights,
                                                mlir::Value &data);

/// first, then second; nullopt where the result would differ at the borders,
/// which without weights is judged by the geometry alone, or is not bounded.
std::optional<LinearOperator> compose(const LinearOperator &first,
                                      const LinearOperator &second);

/// The geometry of the sum: the smallest kernel that holds both. nullopt if
/// the strides differ or it is not bounded.
std::optional<LinearOperator> sumGeometry(const LinearOperator &a,
                                          const LinearOperator &b);

/// Adds the weights of `part` to those of `sum`, whose kernel holds part's.
void accumulate(LinearOperator &sum, const LinearOperator &part);

/// Pads at the ends that give an nn.conv of this operator the spatial sizes
/// `result` on data of sizes `operand`; nullopt if there are none.
std::optional<llvm::SmallVector<int64_t>>
getPads(const LinearOperator &linear, llvm::ArrayRef<int64_t> operand,
        llvm::ArrayRef<int64_t> result);

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_MERGE_LINEAROPERATOR_H
