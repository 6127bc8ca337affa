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

/// The constant weights of an nn.conv, nn.conv_transpose or nn.matmul as they
/// lie in memory. Channels are numbered through all groups.
class ProductWeights {
public:
  /// nullopt if the op is none of these, or its weights are computed or of
  /// another type than f32 or f64.
  static std::optional<ProductWeights> of(mlir::Operation *op);

  mlir::ElementsAttr getAttr() const { return attr; }

  int64_t outputs = 0, inputs = 0, groups = 1;
  int64_t outputsOfGroup() const { return outputs / groups; }
  int64_t inputsOfGroup() const { return inputs / groups; }
  int64_t groupOfInput(int64_t input) const { return input / inputsOfGroup(); }
  int64_t groupOfOutput(int64_t output) const {
    return output / outputsOfGroup();
  }

  /// Whether all taps between two channels of a group are zero.
  bool isZero(int64_t output, int64_t input) const;
  /// The sum of these taps.
  double sum(int64_t output, int64_t input) const;
  /// How many there are, how many of them are zero, and their bytes.
  int64_t count() const { return outputs * inputsOfGroup() * taps; }
  int64_t countZeros() const;
  int64_t bytes() const { return count() * width; }

  /// A constant of what lies between the channels that are left, which are as
  /// many in each group that is left.
  mlir::Value select(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::ArrayRef<int64_t> keptOutputs,
                     llvm::ArrayRef<int64_t> keptInputs) const;

private:
  const char *at(int64_t output, int64_t input) const;
  double read(const char *element) const;

  mlir::ElementsAttr attr;
  /// One element, if all are the same.
  const char *data = nullptr;
  bool isSplat = false;
  int64_t taps = 1, width = 4;
  /// Whether dimension 0 of the weights is that of output channels.
  bool outputsFirst = true;
};

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_PRODUCTWEIGHTS_H
