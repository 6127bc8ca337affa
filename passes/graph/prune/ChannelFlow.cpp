//===- ChannelFlow.cpp - channels of the tensors of a program -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/prune/ChannelFlow.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/ScalarProgram.h"
#include "passes/support/ScaleShift.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using namespace ingot::support;

static constexpr StringLiteral kReturned("is an output of the model");
static constexpr StringLiteral kReadWhole(
    "is read by an operation that takes its channels all together");
static constexpr StringLiteral kMeetsOthers(
    "meets a channel that the model computes otherwise");

std::vector<double> graph::dropIfNone(std::vector<double> constants) {
  if (llvm::all_of(constants, [](double c) { return std::isnan(c); }))
    constants.clear();
  return constants;
}

ChannelFlow::ChannelFlow(func::FuncOp function) {
  function.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { visit(op); });
}

void ChannelFlow::keep(Value value, StringRef why) {
  if (const TensorChannels *channels = find(value))
    sets.keep(channels->list, why);
}

void ChannelFlow::keepOperands(Operation *op, StringRef why) {
  for (Value operand : op->getOperands())
    keep(operand, why);
}

void ChannelFlow::pass(Value from, Value to, int64_t dim,
                       std::vector<double> constants) {
  ChannelList list = find(from)->list;
  auto type = cast<RankedTensorType>(to.getType());
  if (type.getDimSize(dim) != int64_t(sets.channels(list).size()))
    return keep(from, kReadWhole);
  tensors[to] = {dim, list, std::move(constants)};
}

bool graph::isSelectable(Value value) {
  ElementsAttr attr = nn::getConstant(value);
  if (!attr || !attr.getElementType().isIntOrIndexOrFloat())
    return false;
  if (isa<DenseElementsAttr>(attr))
    return true;
  std::vector<char> storage;
  return nn::getRawBytes(attr, storage).has_value();
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// Ties the channels of operands that an op combines by broadcasting or by
/// concatenation along another dimension. Tied channels are removed together.
/// Returns the result dimension that counts the channels, and records it.
/// Returns nullopt if there is no such dimension.
std::optional<int64_t> ChannelFlow::align(Operation *op) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  auto leadOf = [&](Value operand) {
    return type.getRank() - cast<RankedTensorType>(operand.getType()).getRank();
  };
  // An operand with a single channel that broadcasts to many channels does not
  // take part.
  std::optional<int64_t> dim;
  Value first;
  for (Value operand : op->getOperands()) {
    const TensorChannels *channels = find(operand);
    if (!channels)
      continue;
    int64_t own = channels->dim + leadOf(operand);
    int64_t size = sets.channels(channels->list).size();
    if (type.getDimSize(own) != size) {
      keep(operand, kReadWhole);
      continue;
    }
    if (dim && *dim != own) {
      keepOperands(op, kReadWhole);
      return std::nullopt;
    }
    dim = own;
    if (!first)
      first = operand;
  }
  if (!dim)
    return std::nullopt;
  ChannelList list = find(first)->list;
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t own = *dim - leadOf(operand.get());
    auto from = cast<RankedTensorType>(operand.get().getType());
    if (own < 0 ||
        (from.getDimSize(own) == 1 && type.getDimSize(*dim) != 1))
      continue;
    const TensorChannels *channels = find(operand.get());
    // If an operand counts its channels along another dimension, keep all
    // channels of the list.
    if (channels && channels->dim == own &&
        sets.channels(channels->list).size() == sets.channels(list).size())
      sets.uniteLists(list, channels->list);
    else if (!channels && isSelectable(operand.get()))
      constants.push_back({&operand, own, list});
    else
      sets.keep(list, kMeetsOthers);
  }
  pass(first, result, *dim, {});
  return dim;
}

std::vector<double> ChannelFlow::perChannel(Value operand,
                                            RankedTensorType result,
                                            int64_t dim) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (!type.getElementType().isF32() && !type.getElementType().isF64())
    return {};
  if (const TensorChannels *channels = find(operand)) {
    bool isWhole = type.getRank() - channels->dim == result.getRank() - dim &&
                   type.getDimSize(channels->dim) == result.getDimSize(dim);
    return isWhole ? channels->constants : std::vector<double>();
  }
  return getPerChannel(operand, result, dim).value_or(std::vector<double>());
}

/// Computes `op` on constants: one column for each operand, one lane for each
/// channel. Returns an empty vector if `op` cannot be evaluated.
static std::vector<double> run(nn::ElementwiseOpInterface op,
                               ArrayRef<std::vector<double>> columns) {
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  for (size_t i = 0; i < columns.size(); ++i)
    block.addArgument(builder.getF64Type(), op.getLoc());
  Value body = op.buildScalar(builder, block.getArguments());
  if (!body || !isa<FloatType>(body.getType()))
    return {};
  size_t count = columns.front().size();
  size_t lanes = std::min(count, nn::ScalarProgram::kMaxLanes);
  auto program = nn::ScalarProgram::create(block, body, lanes);
  if (!program)
    return {};
  std::vector<double> results;
  for (size_t done = 0; done < count; done += lanes) {
    lanes = std::min(lanes, count - done);
    for (auto [i, column] : llvm::enumerate(columns))
      for (size_t lane = 0; lane < lanes; ++lane)
        program->argument(i)[lane].f = column[done + lane];
    const nn::Lane *computed = program->run(lanes);
    if (!computed)
      return {};
    for (const nn::Lane &lane : ArrayRef(computed, lanes))
      results.push_back(lane.f);
  }
  return results;
}

/// Records an operand that is constant in all channels, so that a constant can
/// replace the branch that computes the operand.
void ChannelFlow::findConstantOperand(Operation *op) {
  Type type = op->getResult(0).getType();
  for (OpOperand &operand : op->getOpOperands()) {
    const TensorChannels *channels = find(operand.get());
    bool isConstant =
        channels && !channels->constants.empty() &&
        llvm::none_of(channels->constants,
                      [](double constant) { return std::isnan(constant); });
    bool hasOther = llvm::any_of(op->getOperands(), [&](Value other) {
      return other != operand.get() && other.getType() == type;
    });
    if (isConstant && hasOther) {
      constantOperands.push_back({&operand, *channels});
      return;
    }
  }
}

void ChannelFlow::visitElementwise(nn::ElementwiseOpInterface op) {
  findConstantOperand(op);
  std::optional<int64_t> dim = align(op);
  if (!dim)
    return;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  auto result = tensors.find(op->getResult(0));
  if (result == tensors.end() || (!element.isF32() && !element.isF64()))
    return;
  std::vector<std::vector<double>> columns;
  for (Value operand : op->getOperands())
    columns.push_back(perChannel(operand, type, *dim));

  size_t count = type.getDimSize(*dim);
  std::vector<double> values(count, kNoConstant);
  // Zero times a computed value is zero, because the pass assumes that all
  // values are finite.
  if (isa<nn::MulOp>(op))
    for (const std::vector<double> &column : columns)
      for (size_t c = 0; c < column.size(); ++c)
        if (column[c] == 0)
          values[c] = 0;
  if (llvm::none_of(columns, [](auto &column) { return column.empty(); })) {
    std::vector<size_t> known;
    for (size_t c = 0; c < count; ++c)
      if (llvm::none_of(columns,
                        [&](auto &column) { return std::isnan(column[c]); }))
        known.push_back(c);
    for (std::vector<double> &column : columns) {
      std::vector<double> lanes;
      for (size_t c : known)
        lanes.push_back(column[c]);
      column = std::move(lanes);
    }
    std::vector<double> computed =
        known.empty() ? std::vector<double>() : run(op, columns);
    for (size_t i = 0; i < computed.size(); ++i) {
      double value = element.isF32() ? float(computed[i]) : computed[i];
      values[known[i]] = std::isfinite(value) ? value : kNoConstant;
    }
  }
  result->second.constants = dropIfNone(std::move(values));
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

void ChannelFlow::visit(Operation *op) {
  // Only products create channels. Other ops matter only if an operand has
  // channels.
  if (isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op))
    return visitProduct(op, op->getOperand(0));
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return find(operand); }))
    return;
  TypeSwitch<Operation *>(op)
      .Case<nn::ReshapeOp>([&](auto reshape) { visitReshape(reshape); })
      .Case<nn::ConcatOp>([&](auto concat) { visitConcat(concat); })
      .Case<nn::SliceOp>([&](auto slice) { visitSlice(slice); })
      .Case<nn::PadOp>([&](auto pad) { visitPad(pad); })
      .Case<nn::ReduceOp>([&](auto reduce) { visitReduce(reduce); })
      .Case<nn::MaxPoolOp, nn::AvgPoolOp>([&](auto pool) { visitPool(pool); })
      .Case<nn::TransposeOp>([&](nn::TransposeOp transpose) {
        TensorChannels x = *find(transpose.getX());
        int64_t dim = llvm::find(transpose.getPerm(), x.dim) -
                      transpose.getPerm().begin();
        pass(transpose.getX(), transpose.getY(), dim, std::move(x.constants));
      })
      .Case<nn::ResizeOp>([&](nn::ResizeOp resize) {
        TensorChannels x = *find(resize.getX());
        // Interpolation between equal values gives the same value. Only cubic
        // mode has rounding errors.
        if (resize.getMode() == nn::ResizeMode::cubic)
          x.constants.clear();
        if (resize.getScales()[x.dim] != 1)
          return keep(resize.getX(), kReadWhole);
        pass(resize.getX(), resize.getY(), x.dim, std::move(x.constants));
      })
      .Case<nn::SoftmaxOp>([&](nn::SoftmaxOp softmax) {
        int64_t dim = find(softmax.getX())->dim;
        if (dim == int64_t(softmax.getAxis()))
          return keep(softmax.getX(), kReadWhole);
        pass(softmax.getX(), softmax.getY(), dim, {});
      })
      .Case<nn::BroadcastToOp>([&](nn::BroadcastToOp broadcast) {
        TensorChannels x = *find(broadcast.getX());
        auto from = cast<RankedTensorType>(broadcast.getX().getType()),
             to = cast<RankedTensorType>(broadcast.getY().getType());
        pass(broadcast.getX(), broadcast.getY(),
             x.dim + to.getRank() - from.getRank(), std::move(x.constants));
      })
      .Case<tensor::CastOp>([&](tensor::CastOp cast) {
        if (!isa<RankedTensorType>(cast.getType()))
          return keep(cast.getSource(), kReadWhole);
        TensorChannels x = *find(cast.getSource());
        pass(cast.getSource(), cast.getDest(), x.dim, std::move(x.constants));
      })
      .Case<tensor::DimOp>([&](tensor::DimOp size) {
        if (size.getConstantIndex() != find(size.getSource())->dim)
          return;
        keep(size.getSource(), kReadWhole);
      })
      .Case<nn::ElementwiseOpInterface>(
          [&](auto elementwise) { visitElementwise(elementwise); })
      .Case<func::ReturnOp>([&](auto) { keepOperands(op, kReturned); })
      .Default([&](auto) { keepOperands(op, kReadWhole); });
}
