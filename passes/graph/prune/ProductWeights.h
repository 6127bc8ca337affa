//===- ProductWeights.h - weights by output and input channel ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_PRUNE_PRODUCTWEIGHTS_H
#define INGOT_PASSES_GRAPH_PRUNE_PRODUCTWEIGHTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::graph {

/// The constant weights of an nn.conv, nn.conv_transpose or nn.matmul in their
/// memory layout. Channels are numbered through all groups.
class ProductWeights {
public:
  /// Returns the weights of `op`. Returns nullopt for other ops, and for
  /// weights that are not constant or neither f32 nor f64.
  static std::optional<ProductWeights> of(mlir::Operation *op);

  mlir::ElementsAttr getAttr() const { return attr; }

  int64_t outputs = 0, inputs = 0, groups = 1;
  int64_t outputsOfGroup() const { return outputs / groups; }
  int64_t inputsOfGroup() const { return inputs / groups; }
  int64_t groupOfInput(int64_t input) const { return input / inputsOfGroup(); }
  int64_t groupOfOutput(int64_t output) const {
    return output / outputsOfGroup();
  }

  /// Returns true if all taps between two channels of a group are zero.
  bool isZero(int64_t output, int64_t input) const;
  /// Returns the sum of all taps between two channels of a group.
  double sum(int64_t output, int64_t input) const;
  /// Return the number of weights, the number of zeros, and the bytes.
  int64_t count() const { return outputs * inputsOfGroup() * taps; }
  int64_t countZeros() const;
  int64_t bytes() const { return count() * width; }

  /// Creates a constant with the weights of the kept channels. Precondition:
  /// all remaining groups keep equally many channels.
  mlir::Value select(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::ArrayRef<int64_t> keptOutputs,
                     llvm::ArrayRef<int64_t> keptInputs) const;

private:
  const char *at(int64_t output, int64_t input) const;
  double read(const char *element) const;

  mlir::ElementsAttr attr;
  /// The elements, or a single element if `isSplat`.
  const char *data = nullptr;
  bool isSplat = false;
  int64_t taps = 1, width = 4;
  /// True if dimension 0 of the weights counts output channels.
  bool outputsFirst = true;
};

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_PRODUCTWEIGHTS_H
