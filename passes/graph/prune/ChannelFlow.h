//===- ChannelFlow.h - which channels of a program are the same -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over a function follows the channels that products by constant
// weights make: which dimension of which tensor they are, which have to vanish
// together, which hold one number whatever the data, and who reads them. What
// an op does not let through stays (ChannelSets::keep).
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_PRUNE_CHANNELFLOW_H
#define INGOT_PASSES_GRAPH_PRUNE_CHANNELFLOW_H

#include "dialects/nn/NNDialect.h"
#include "passes/graph/prune/ChannelSets.h"
#include "passes/graph/prune/ProductWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <limits>

namespace ingot::graph {

/// The channels of a tensor: a dimension, its list, and the number that all of
/// a channel's elements are, NaN if they are not one. No constants at all if no
/// channel has one.
struct TensorChannels {
  int64_t dim = 0;
  ChannelList list = 0;
  std::vector<double> constants = {};
};

/// A product by constant weights.
struct Product {
  mlir::Operation *op;
  ProductWeights weights;
  /// Of its data, if they are followed, and of its result.
  std::optional<ChannelList> inputs;
  ChannelList outputs;
  /// The bias, one number for each output.
  std::vector<double> bias;
  /// Of inputs, what they add to the bias as the constants that they are; NaN
  /// of others, empty if there are none.
  std::vector<double> folded;
  /// Whether groups vanish as a whole: the channels of each are one set.
  bool inWholeGroups = false;

  bool isFolded(int64_t input) const {
    return !folded.empty() && !std::isnan(folded[input]);
  }
};

/// An operand of an elementwise op all channels of which are constants, and
/// which the result's sizes do not depend on.
struct ConstantOperand {
  mlir::OpOperand *operand;
  TensorChannels channels;
};

/// A constant with a dimension that is a list.
struct ListedConstant {
  mlir::OpOperand *operand;
  int64_t dim;
  ChannelList list;
};

class ChannelFlow {
public:
  explicit ChannelFlow(mlir::func::FuncOp function);

  const TensorChannels *find(mlir::Value value) const {
    auto at = tensors.find(value);
    return at == tensors.end() ? nullptr : &at->second;
  }

  ChannelSets sets;
  std::vector<Product> products;
  std::vector<ListedConstant> constants;
  std::vector<ConstantOperand> constantOperands;
  /// Ops that take a part of the channels, or put some around them.
  std::vector<mlir::Operation *> windows;
  llvm::DenseMap<mlir::Value, TensorChannels> tensors;

private:
  void visit(mlir::Operation *op);
  void keepOperands(mlir::Operation *op, llvm::StringRef why);
  void keep(mlir::Value value, llvm::StringRef why);
  /// Says that a result has the same channels, in dimension `dim`.
  void pass(mlir::Value from, mlir::Value to, int64_t dim,
            std::vector<double> constants);

  // ChannelFlowProducts.cpp
  void visitProduct(mlir::Operation *op, mlir::Value data);
  void tieGroups(Product &product, llvm::ArrayRef<double> constants);

  // ChannelFlowMovement.cpp
  void visitReshape(nn::ReshapeOp op);
  void visitConcat(nn::ConcatOp op);
  void visitSlice(nn::SliceOp op);
  void visitPad(nn::PadOp op);
  void visitReduce(nn::ReduceOp op);
  template <typename Op> void visitPool(Op op);

  // ChannelFlow.cpp
  std::optional<int64_t> align(mlir::Operation *op);
  void visitElementwise(nn::ElementwiseOpInterface op);
  void findConstantOperand(mlir::Operation *op);
  std::vector<double> perChannel(mlir::Value operand,
                                 mlir::RankedTensorType result, int64_t dim);
};

/// Whether entries of the constant can be taken out.
bool isSelectable(mlir::Value value);

/// Stands for a channel that is no constant.
constexpr double kNoConstant = std::numeric_limits<double>::quiet_NaN();
/// Empty if there are only NaNs.
std::vector<double> dropIfNone(std::vector<double> constants);

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_CHANNELFLOW_H
