//===- ChannelFlowMovement.cpp - channels through movement and pools ------===//
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

static constexpr StringLiteral kTakenApart(
    "is taken apart or mixed with others by a reshape");
static constexpr StringLiteral kTakenInSteps(
    "is read by a slice that skips channels");
static constexpr StringLiteral kBesideOthers(
    "is computed by an op that is not a product with constant weights");
static constexpr StringLiteral kSummedUp(
    "is read by a reduction over channels");
static constexpr StringLiteral kPadded("is padded along its channels");

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Returns the number of elements of some dimensions, or nullopt if it is
/// unknown.
static std::optional<int64_t> countOf(ArrayRef<int64_t> sizes) {
  int64_t count = support::productOf(sizes);
  return ShapedType::isDynamic(count) ? std::nullopt : std::optional(count);
}

/// A result dimension of a reshape that merges three factors in this order:
/// `outer`, the channels and `inner`.
namespace {
struct Merged {
  int64_t dim, outer, inner;
};
} // namespace

static std::optional<Merged> findMerged(ArrayRef<int64_t> x,
                                        ArrayRef<int64_t> y, int64_t channels) {
  if (support::isKnownEmpty(x) || support::isKnownEmpty(y))
    return std::nullopt;
  const int64_t rank = x.size();
  // Try small merged groups first. A search is necessary because dimensions of
  // size 1 may stand at any place.
  for (int64_t merged = 0; merged < rank; ++merged)
    for (int64_t i = std::max<int64_t>(channels - merged, 0);
         i <= channels && i + merged < rank; ++i) {
      auto outer = countOf(x.slice(i, channels - i));
      auto inner =
          countOf(x.slice(channels + 1, i + merged - channels));
      if (!outer || !inner)
        continue;
      auto before = countOf(x.take_front(i)),
           behind = countOf(x.drop_front(i + merged + 1));
      for (int64_t dim = 0; dim < int64_t(y.size()); ++dim) {
        if (y[dim] != *outer * x[channels] * *inner)
          continue;
        // A reshape keeps the number of all elements. If the elements before
        // the channels are equally many, those after the channels are, too.
        if ((before && before == countOf(y.take_front(dim))) ||
            (behind && behind == countOf(y.drop_front(dim + 1))))
          return Merged{dim, *outer, *inner};
      }
    }
  return std::nullopt;
}

void ChannelFlow::visitReshape(nn::ReshapeOp op) {
  TensorChannels x = *find(op.getX());
  auto to = cast<RankedTensorType>(op.getY().getType());
  std::optional<Merged> merged =
      findMerged(cast<RankedTensorType>(op.getX().getType()).getShape(),
                 to.getShape(), x.dim);
  if (!merged)
    return keep(op.getX(), kTakenApart);
  if (merged->outer == 1 && merged->inner == 1)
    return pass(op.getX(), op.getY(), merged->dim, std::move(x.constants));
  std::vector<Channel> list;
  std::vector<double> constants;
  ArrayRef<Channel> channels = sets.channels(x.list);
  for (int64_t outer = 0; outer < merged->outer; ++outer)
    for (size_t c = 0; c < channels.size(); ++c) {
      list.insert(list.end(), merged->inner, channels[c]);
      if (!x.constants.empty())
        constants.insert(constants.end(), merged->inner, x.constants[c]);
    }
  tensors[op.getY()] = {merged->dim, sets.addList(std::move(list)),
                        std::move(constants)};
}

//===----------------------------------------------------------------------===//
// Concatenations, slices, padding
//===----------------------------------------------------------------------===//

void ChannelFlow::visitConcat(nn::ConcatOp op) {
  const int64_t axis = op.getAxis();
  auto isAcross = [&](Value input) {
    const TensorChannels *channels = find(input);
    return channels && channels->dim != axis;
  };
  auto type = cast<RankedTensorType>(op.getY().getType());
  auto sizeOf = [&](Value input) {
    return cast<RankedTensorType>(input.getType()).getDimSize(axis);
  };
  bool isOpen = llvm::any_of(op.getInputs(), [&](Value input) {
    return ShapedType::isDynamic(sizeOf(input));
  });
  if (llvm::any_of(op.getInputs(), isAcross)) {
    // Concatenating along another dimension keeps the channels. A channel stays
    // constant if all inputs have the same constant.
    std::optional<int64_t> dim = align(op);
    auto result = tensors.find(op.getY());
    if (!dim || result == tensors.end())
      return;
    std::vector<double> constants = perChannel(op.getInputs()[0], type, *dim);
    for (Value input : op.getInputs().drop_front()) {
      std::vector<double> others = perChannel(input, type, *dim);
      for (size_t c = 0; c < constants.size(); ++c)
        if (others.empty() || others[c] != constants[c])
          constants[c] = kNoConstant;
    }
    result->second.constants = dropIfNone(std::move(constants));
    return;
  }
  if (isOpen)
    return keepOperands(op, kBesideOthers);
  std::vector<Channel> list;
  std::vector<double> constants;
  for (OpOperand &input : op->getOpOperands()) {
    ChannelList own;
    if (const TensorChannels *channels = find(input.get())) {
      own = channels->list;
    } else {
      own = sets.addList(sizeOf(input.get()));
      if (isSelectable(input.get()))
        this->constants.push_back({&input, axis, own});
      else
        sets.keep(own, kBesideOthers);
    }
    ArrayRef<Channel> channels = sets.channels(own);
    list.insert(list.end(), channels.begin(), channels.end());
    auto part = cast<RankedTensorType>(input.get().getType());
    std::vector<double> known = perChannel(input.get(), part, axis);
    known.resize(channels.size(), kNoConstant);
    constants.insert(constants.end(), known.begin(), known.end());
  }
  tensors[op.getY()] = {axis, sets.addList(std::move(list)),
                        dropIfNone(std::move(constants))};
}

void ChannelFlow::visitSlice(nn::SliceOp op) {
  TensorChannels x = *find(op.getX());
  int64_t size = cast<RankedTensorType>(op.getY().getType()).getDimSize(x.dim);
  int64_t start = op.getStarts()[x.dim];
  ArrayRef<Channel> channels = sets.channels(x.list);
  if (op.getSteps()[x.dim] != 1 || ShapedType::isDynamic(size) || start < 0 ||
      start + size > int64_t(channels.size()))
    return keep(op.getX(), kTakenInSteps);
  windows.push_back(op);
  if (size == int64_t(channels.size()))
    return pass(op.getX(), op.getY(), x.dim, std::move(x.constants));
  if (!x.constants.empty())
    x.constants = std::vector<double>(x.constants.begin() + start,
                                      x.constants.begin() + start + size);
  ArrayRef<Channel> part = channels.slice(start, size);
  tensors[op.getY()] = {x.dim, sets.addList({part.begin(), part.end()}),
                        dropIfNone(std::move(x.constants))};
}

void ChannelFlow::visitPad(nn::PadOp op) {
  TensorChannels x = *find(op.getX());
  const int64_t low = op.getLow()[x.dim], high = op.getHigh()[x.dim];
  const bool isFilled = op.getMode() == nn::PadMode::constant;
  const double fill =
      op.getValue() ? nn::getSplat(op.getValue()).value_or(kNoConstant)
                    : kNoConstant;
  auto isPadded = [&](auto amounts) {
    for (auto [dim, amount] : llvm::enumerate(amounts))
      if (int64_t(dim) != x.dim && amount > 0)
        return true;
    return false;
  };
  if (isFilled && (isPadded(op.getLow()) || isPadded(op.getHigh())))
    for (double &constant : x.constants)
      if (constant != fill)
        constant = kNoConstant;
  x.constants = dropIfNone(std::move(x.constants));
  if (low == 0 && high == 0)
    return pass(op.getX(), op.getY(), x.dim, std::move(x.constants));
  // Shortcuts of some residual networks pad channels with zeros.
  auto element = cast<RankedTensorType>(op.getY().getType()).getElementType();
  if (!isFilled || low < 0 || high < 0 || !isa<FloatType>(element))
    return keep(op.getX(), kPadded);
  std::vector<Channel> list;
  std::vector<double> constants;
  auto add = [&](ChannelList own, std::vector<double> known) {
    ArrayRef<Channel> channels = sets.channels(own);
    list.insert(list.end(), channels.begin(), channels.end());
    known.resize(channels.size(), kNoConstant);
    constants.insert(constants.end(), known.begin(), known.end());
  };
  add(sets.addList(low), std::vector<double>(low, fill));
  add(x.list, std::move(x.constants));
  add(sets.addList(high), std::vector<double>(high, fill));
  windows.push_back(op);
  tensors[op.getY()] = {x.dim, sets.addList(std::move(list)),
                        dropIfNone(std::move(constants))};
}

//===----------------------------------------------------------------------===//
// Reductions and pools
//===----------------------------------------------------------------------===//

void ChannelFlow::visitReduce(nn::ReduceOp op) {
  TensorChannels x = *find(op.getX());
  if (llvm::is_contained(op.getAxes(), x.dim))
    return keep(op.getX(), kSummedUp);
  int64_t dim = x.dim;
  if (!op.getKeepDims())
    dim -= llvm::count_if(op.getAxes(),
                          [&](int64_t axis) { return axis < x.dim; });
  auto shape = cast<RankedTensorType>(op.getX().getType()).getShape();
  std::optional<int64_t> count = 1;
  for (int64_t axis : op.getAxes())
    count = count && !ShapedType::isDynamic(shape[axis])
                ? std::optional(*count * shape[axis])
                : std::nullopt;
  for (double &constant : x.constants) {
    switch (op.getKind()) {
    case nn::ReduceKind::mean:
    case nn::ReduceKind::max:
    case nn::ReduceKind::min:
      continue;
    case nn::ReduceKind::sum:
      if (constant != 0)
        constant = count ? constant * *count : kNoConstant;
      continue;
    case nn::ReduceKind::sum_square:
      if (constant != 0)
        constant = count ? constant * constant * *count : kNoConstant;
      continue;
    case nn::ReduceKind::prod:
      if (constant != 1 && constant != 0)
        constant = kNoConstant;
      continue;
    }
  }
  pass(op.getX(), op.getY(), dim, dropIfNone(std::move(x.constants)));
}

/// Returns true if each window contains an element of the operand, for all
/// operand sizes.
template <typename Op> static bool hasFullWindows(Op op) {
  ArrayRef<int64_t> pads = op.getPads(), kernel = op.getKernel();
  for (size_t i = 0; i < pads.size(); ++i) {
    size_t dim = i % kernel.size();
    if (pads[i] > 0 &&
        (op.getDilations()[dim] != 1 || pads[i] >= kernel[dim]))
      return false;
  }
  return true;
}

template <typename Op> void ChannelFlow::visitPool(Op op) {
  TensorChannels x = *find(op.getX());
  int64_t rank = cast<RankedTensorType>(op.getX().getType()).getRank();
  if (x.dim != channelDim(rank, op.getChannelsLast()))
    return keep(op.getX(), kTakenApart);
  bool keepsAll = hasFullWindows(op), keepsZero = keepsAll;
  if constexpr (std::is_same_v<Op, nn::AvgPoolOp>)
    if (op.getCountIncludePad()) {
      keepsAll = llvm::all_of(op.getPads(), [](int64_t p) { return p <= 0; });
      keepsZero = true;
    }
  for (double &constant : x.constants)
    if (constant == 0 ? !keepsZero : !keepsAll)
      constant = kNoConstant;
  pass(op.getX(), op.getY(), x.dim, dropIfNone(std::move(x.constants)));
}

template void ChannelFlow::visitPool(nn::MaxPoolOp);
template void ChannelFlow::visitPool(nn::AvgPoolOp);
