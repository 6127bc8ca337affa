//===- ChannelFlowProducts.cpp - channels of products ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/graph/prune/ChannelFlow.h"
#include "passes/support/ScaleShift.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using namespace ingot::support;

static constexpr StringLiteral kOtherWeights(
    "is read by a product whose weights or bias are computed");
static constexpr StringLiteral kOtherDim(
    "is read by a product along another dimension");
static constexpr StringLiteral kOfData("is computed from a channel that stays");
static constexpr StringLiteral kComputedBias("has a bias that is computed");

/// Returns the dimension of its data that a product sums over.
static int64_t summedDim(Operation *op) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (auto conv = dyn_cast<nn::ConvOp>(op))
    return channelDim(rank, conv.getChannelsLast());
  if (auto conv = dyn_cast<nn::ConvTransposeOp>(op))
    return channelDim(rank, conv.getChannelsLast());
  return rank - (cast<nn::MatMulOp>(op).getTransposeA() ? 2 : 1);
}

static int64_t resultDim(Operation *op) {
  return isa<nn::MatMulOp>(op)
             ? cast<RankedTensorType>(op->getResult(0).getType()).getRank() - 1
             : summedDim(op);
}

static std::optional<std::vector<double>> biasOf(Operation *op,
                                                 int64_t outputs) {
  Value bias = op->getNumOperands() > 2 ? op->getOperand(2) : Value();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!bias || !isa<nn::MatMulOp>(op))
    return getBias(bias, outputs);
  return getPerChannel(bias, type, type.getRank() - 1);
}

/// Returns true if all elements of the result read equally many elements of
/// each channel, and no padding.
static bool readsWhole(Operation *op) {
  if (auto conv = dyn_cast<nn::ConvOp>(op))
    return llvm::none_of(conv.getPads(), [](int64_t pad) { return pad > 0; });
  return isa<nn::MatMulOp>(op);
}

void ChannelFlow::visitProduct(Operation *op, Value data) {
  Value result = op->getResult(0);
  std::optional<ProductWeights> weights = ProductWeights::of(op);
  auto bias = weights ? biasOf(op, weights->outputs) : std::nullopt;
  if (!weights || (isa<nn::MatMulOp>(op) && !bias))
    return keepOperands(op, kOtherWeights);
  for (Value operand : op->getOperands().drop_front())
    keep(operand, kOtherWeights);
  const TensorChannels *x = find(data);
  if (x && x->dim != summedDim(op)) {
    // A matrix product computes each row independently, so channels along rows
    // pass through it.
    bool areRows = isa<nn::MatMulOp>(op) &&
                   !cast<nn::MatMulOp>(op).getTransposeA();
    if (areRows)
      return pass(data, result, x->dim, {});
    keep(data, kOtherDim);
    x = nullptr;
  }

  WeightedProduct product = {op, *weights, std::nullopt, 0, {}, {}};
  if (bias)
    product.bias = std::move(*bias);
  // Each input gets its constant value if the bias can absorb this value times
  // the weights. Another input gets NaN.
  std::vector<double> adds(weights->inputs, kNoConstant);
  if (x) {
    product.inputs = x->list;
    for (size_t i = 0; i < x->constants.size(); ++i)
      if (x->constants[i] == 0 || (readsWhole(op) && !product.bias.empty()))
        adds[i] = x->constants[i];
  }

  std::vector<double> constants(weights->outputs, kNoConstant);
  for (int64_t o = 0; o < int64_t(product.bias.size()); ++o) {
    double sum = product.bias[o];
    int64_t first = weights->groupOfOutput(o) * weights->inputsOfGroup();
    for (int64_t i = first; i < first + weights->inputsOfGroup(); ++i)
      if (!weights->isZero(o, i)) {
        if (std::isnan(adds[i])) {
          sum = kNoConstant;
          break;
        }
        sum += adds[i] * weights->sum(o, i);
      }
    if (cast<RankedTensorType>(result.getType()).getElementType().isF32())
      sum = float(sum);
    constants[o] = std::isfinite(sum) ? sum : kNoConstant;
  }

  product.outputs = sets.addList(weights->outputs);
  product.folded = dropIfNone(std::move(adds));
  if (product.bias.empty())
    sets.keep(product.outputs, kComputedBias);
  if (weights->groups > 1)
    tieGroups(product, constants);
  tensors[result] = {resultDim(op), product.outputs,
                     dropIfNone(std::move(constants))};
  products.push_back(std::move(product));
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Forms sets that have one channel from each group. Sets are removed as a
/// whole, so that all groups keep the same number of channels. A set can vanish
/// only if all its channels vanish. Channels for which `vanishes` returns true
/// therefore share sets where possible.
static void alignGroups(ChannelSets &sets, ArrayRef<Channel> channels,
                        int64_t groups,
                        llvm::function_ref<bool(int64_t)> vanishes) {
  int64_t ofGroup = channels.size() / groups;
  SmallVector<Channel> first;
  for (int64_t group = 0; group < groups; ++group) {
    SmallVector<int64_t> order;
    for (bool wanted : {true, false})
      for (int64_t c = group * ofGroup; c < (group + 1) * ofGroup; ++c)
        if (vanishes(c) == wanted)
          order.push_back(c);
    for (int64_t i = 0; i < ofGroup; ++i) {
      if (group == 0)
        first.push_back(channels[order[i]]);
      sets.unite(first[i], channels[order[i]]);
    }
  }
}

/// Joins the channels of a product with groups into sets. The product can lose
/// either whole groups, or an equal number of channels from each group. Uses
/// the weights to choose the way that may remove more channels.
void ChannelFlow::tieGroups(WeightedProduct &product,
                            ArrayRef<double> constants) {
  const ProductWeights &weights = product.weights;
  const int64_t ofIn = weights.inputsOfGroup(),
                ofOut = weights.outputsOfGroup();
  auto isConstant = [&](int64_t o) { return !std::isnan(constants[o]); };
  auto isUnread = [&](int64_t i) {
    if (product.isFolded(i))
      return true;
    int64_t first = weights.groupOfInput(i) * ofOut;
    return llvm::all_of(llvm::seq(first, first + ofOut),
                        [&](int64_t o) { return weights.isZero(o, i); });
  };
  int64_t wholeGroups = 0, fewestOut = ofOut, fewestIn = ofIn;
  for (int64_t group = 0; group < weights.groups; ++group) {
    int64_t out = llvm::count_if(
        llvm::seq(group * ofOut, (group + 1) * ofOut), isConstant);
    int64_t in = llvm::count_if(llvm::seq(group * ofIn, (group + 1) * ofIn),
                                isUnread);
    wholeGroups += out == ofOut || in == ofIn;
    fewestOut = std::min(fewestOut, out);
    fewestIn = std::min(fewestIn, in);
  }
  ArrayRef<Channel> outputs = sets.channels(product.outputs);
  ArrayRef<Channel> inputs;
  if (product.inputs)
    inputs = sets.channels(*product.inputs);
  const int64_t inEach = (fewestOut + fewestIn) * weights.groups;
  product.inWholeGroups = ofIn == 1 || inEach == 0 ||
                          wholeGroups * (ofIn + ofOut) >= inEach;
  if (product.inWholeGroups) {
    // Fold no constant input into the bias. The pass removes an input only
    // together with all outputs that read it. No output that reads the constant
    // remains.
    product.folded.clear();
    for (int64_t group = 0; group < weights.groups; ++group) {
      Channel one = outputs[group * ofOut];
      for (Channel other : outputs.slice(group * ofOut, ofOut))
        sets.unite(one, other);
      if (!inputs.empty())
        for (Channel other : inputs.slice(group * ofIn, ofIn))
          sets.unite(one, other);
    }
    if (inputs.empty())
      sets.keep(product.outputs, kOfData);
    return;
  }
  alignGroups(sets, outputs, weights.groups, isConstant);
  if (!inputs.empty())
    alignGroups(sets, inputs, weights.groups, isUnread);
}
