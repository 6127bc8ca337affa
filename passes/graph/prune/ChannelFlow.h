//===- ChannelFlow.h - channels of the tensors of a program -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the channels that products with constant weights produce, in one walk
// over a function. It finds the tensor dimensions that hold the channels, and
// the channels that can only be removed together. It also finds channels with
// constant values, and the readers of each channel. Channels that an op does
// not pass on are kept (ChannelSets::keep).
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

/// The channels of a tensor: the dimension that counts them, their list, and
/// their constants. A channel whose elements are all equal has this value as
/// its constant. Another channel has NaN. `constants` is empty if no channel
/// has a constant.
struct TensorChannels {
  int64_t dim = 0;
  ChannelList list = 0;
  std::vector<double> constants = {};
};

/// A product with constant weights.
struct WeightedProduct {
  mlir::Operation *op;
  ProductWeights weights;
  /// Channels of the data. Nullopt if the analysis does not follow these
  /// channels.
  std::optional<ChannelList> inputs;
  /// Channels of the result.
  ChannelList outputs;
  /// The bias, one value for each output.
  std::vector<double> bias;
  /// The constant value of each input that can be folded into the bias. Other
  /// inputs have NaN. The vector is empty if no input can be folded.
  std::vector<double> folded;
  /// True if groups are removed as a whole: the channels of each group form one
  /// set.
  bool inWholeGroups = false;

  bool isFolded(int64_t input) const {
    return !folded.empty() && !std::isnan(folded[input]);
  }
};

/// An operand of an elementwise op whose channels are all constants. The sizes
/// of the result do not depend on the operand.
struct ConstantOperand {
  mlir::OpOperand *operand;
  TensorChannels channels;
};

/// A constant with a dimension that a channel list describes.
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
  std::vector<WeightedProduct> products;
  std::vector<ListedConstant> constants;
  std::vector<ConstantOperand> constantOperands;
  /// Ops that slice or pad the channels.
  std::vector<mlir::Operation *> windows;
  llvm::DenseMap<mlir::Value, TensorChannels> tensors;

private:
  void visit(mlir::Operation *op);
  void keepOperands(mlir::Operation *op, llvm::StringRef why);
  void keep(mlir::Value value, llvm::StringRef why);
  /// Records that `to` has the channels of `from`, in dimension `dim`.
  void pass(mlir::Value from, mlir::Value to, int64_t dim,
            std::vector<double> constants);

  // ChannelFlowProducts.cpp
  void visitProduct(mlir::Operation *op, mlir::Value data);
  void tieGroups(WeightedProduct &product, llvm::ArrayRef<double> constants);

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

/// Returns true if entries can be removed from the constant.
bool isSelectable(mlir::Value value);

/// Marks a channel that is not constant.
constexpr double kNoConstant = std::numeric_limits<double>::quiet_NaN();
/// Returns an empty vector if all constants are NaN; else returns `constants`.
std::vector<double> dropIfNone(std::vector<double> constants);

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PRUNE_CHANNELFLOW_H
