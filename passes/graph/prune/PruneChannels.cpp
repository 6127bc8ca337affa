//===- PruneChannels.cpp - nn-prune-channels ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Removes channels from constants, attributes and types. ChannelFlow finds the
// channels, and ChannelRemoval chooses those to remove.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/Metadata.h"
#include "dialects/nn/Constants.h"
#include "passes/graph/Passes.h"
#include "passes/graph/prune/ChannelRemoval.h"
#include "passes/support/ScaleShift.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

namespace ingot {
#define GEN_PASS_DEF_PRUNECHANNELS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using namespace ingot::support;

namespace {

class Pruner {
public:
  explicit Pruner(func::FuncOp function)
      : function(function), flow(function), removal(flow) {}

  void run();
  void tell();

  /// Numbers of outputs of products, and bytes of their weights.
  int64_t channels = 0, removed = 0, bytesBefore = 0, bytesAfter = 0;

private:
  void rewrite(const WeightedProduct &product);
  void rewriteBias(const WeightedProduct &product, OpBuilder &builder);
  void rewrite(const ListedConstant &constant);
  void rewriteWindow(Operation *op);
  void replace(const ConstantOperand &constant);
  int64_t keptBefore(ChannelList list, int64_t place) const {
    const auto &kept = removal.kept(list);
    return llvm::lower_bound(kept, place) - kept.begin();
  }

  func::FuncOp function;
  ChannelFlow flow;
  ChannelRemoval removal;
};

struct PruneChannelsPass
    : ingot::impl::PruneChannelsBase<PruneChannelsPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> allOf(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(count));
}

/// Folds removed constant inputs into the bias.
void Pruner::rewriteBias(const WeightedProduct &product, OpBuilder &builder) {
  const ProductWeights &weights = product.weights;
  const bool isThere = product.op->getNumOperands() > 2;
  std::vector<double> bias = product.bias;
  bool isNeeded = isThere;
  if (!product.folded.empty())
    for (auto [input, channel] :
         llvm::enumerate(flow.sets.channels(*product.inputs))) {
      double constant = product.folded[input];
      if (!removal.isRemoved(channel) || !product.isFolded(input) ||
          constant == 0)
        continue;
      int64_t first = weights.groupOfInput(input) * weights.outputsOfGroup();
      for (int64_t output = first; output < first + weights.outputsOfGroup();
           ++output)
        bias[output] += constant * weights.sum(output, input);
      isNeeded = true;
    }
  if (!isNeeded)
    return;
  std::vector<double> kept;
  for (int64_t output : removal.kept(product.outputs))
    kept.push_back(bias[output]);
  Value old = product.op->getOperand(isThere ? 2 : 1);
  Value made = makeVector(
      builder, product.op->getLoc(),
      cast<RankedTensorType>(old.getType()).getElementType(), kept);
  if (isThere)
    product.op->setOperand(2, made);
  else
    product.op->insertOperands(2, made);
}

void Pruner::rewrite(const WeightedProduct &product) {
  const ProductWeights &weights = product.weights;
  const auto &outputs = removal.kept(product.outputs);
  const SmallVector<int64_t> inputs =
      product.inputs ? removal.kept(*product.inputs) : allOf(weights.inputs);
  channels += weights.outputs;
  bytesBefore += weights.bytes();
  bytesAfter += weights.bytes();
  const bool fewerInputs = int64_t(inputs.size()) != weights.inputs;
  if (!removal.changes(product.outputs) && !fewerInputs)
    return;
  removed += weights.outputs - outputs.size();
  OpBuilder builder(product.op);
  if (!product.bias.empty())
    rewriteBias(product, builder);
  Value selected =
      weights.select(builder, product.op->getLoc(), outputs, inputs);
  product.op->setOperand(1, selected);
  if (product.inWholeGroups) {
    const int64_t groups = inputs.size() / weights.inputsOfGroup();
    if (auto conv = dyn_cast<nn::ConvOp>(product.op))
      conv.setGroups(groups);
    else
      cast<nn::ConvTransposeOp>(product.op).setGroups(groups);
  }
  auto type = cast<RankedTensorType>(selected.getType());
  bytesAfter += type.getNumElements() *
                    nn::elementBytes(type.getElementType()) -
                weights.bytes();
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

/// Returns `attr` with only the entries `kept` of dimension `dim`.
static ElementsAttr select(ElementsAttr attr, int64_t dim,
                           ArrayRef<int64_t> kept) {
  auto old = cast<RankedTensorType>(attr.getType());
  SmallVector<int64_t> shape(old.getShape());
  shape[dim] = kept.size();
  auto type = RankedTensorType::get(shape, old.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(attr); dense && dense.isSplat())
    return dense.resizeSplat(type);
  std::vector<char> storage, selected;
  std::optional<ArrayRef<char>> bytes = nn::getRawBytes(attr, storage);
  if (!bytes)
    return {};
  const int64_t size = old.getDimSize(dim);
  int64_t inner = nn::elementBytes(old.getElementType()), outer = 1;
  for (int64_t extent : old.getShape().drop_front(dim + 1))
    inner *= extent;
  for (int64_t extent : old.getShape().take_front(dim))
    outer *= extent;
  selected.reserve(outer * kept.size() * inner);
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t place : kept) {
      const char *from = bytes->data() + (i * size + place) * inner;
      selected.insert(selected.end(), from, from + inner);
    }
  return nn::makeConstantAttr(type, std::move(selected));
}

void Pruner::rewrite(const ListedConstant &constant) {
  if (!removal.changes(constant.list))
    return;
  OpBuilder builder(constant.operand->getOwner());
  Value old = constant.operand->get();
  constant.operand->set(arith::ConstantOp::create(
      builder, old.getLoc(),
      cast<TypedAttr>(select(nn::getConstant(old), constant.dim,
                             removal.kept(constant.list)))));
}

void Pruner::rewriteWindow(Operation *op) {
  const TensorChannels &x = *flow.find(op->getOperand(0));
  const TensorChannels &y = *flow.find(op->getResult(0));
  Builder builder(op->getContext());
  auto with = [&](ArrayRef<int64_t> old, int64_t value) {
    SmallVector<int64_t> numbers(old);
    numbers[x.dim] = value;
    return builder.getDenseI64ArrayAttr(numbers);
  };
  const int64_t size = removal.kept(y.list).size();
  if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    int64_t start = slice.getStarts()[x.dim];
    slice.setStartsAttr(with(slice.getStarts(), keptBefore(x.list, start)));
    slice.setSizesAttr(with(slice.getSizes(), size));
    return;
  }
  auto pad = cast<nn::PadOp>(op);
  int64_t low = keptBefore(y.list, pad.getLow()[x.dim]);
  int64_t own = removal.kept(x.list).size();
  pad.setLowAttr(with(pad.getLow(), low));
  pad.setHighAttr(with(pad.getHigh(), size - low - own));
}

/// Replaces an operand by a constant of its remaining channels.
void Pruner::replace(const ConstantOperand &constant) {
  Operation *op = constant.operand->getOwner();
  auto type = cast<RankedTensorType>(constant.operand->get().getType());
  std::vector<double> numbers;
  for (int64_t place : removal.kept(constant.channels.list))
    numbers.push_back(constant.channels.constants[place]);
  OpBuilder builder(op);
  constant.operand->set(makePerChannel(builder, op->getLoc(),
                                       type.getElementType(), type.getRank(),
                                       constant.channels.dim, numbers));
}

void Pruner::run() {
  for (const WeightedProduct &product : flow.products)
    rewrite(product);
  for (const ListedConstant &constant : flow.constants)
    rewrite(constant);
  for (Operation *op : flow.windows)
    rewriteWindow(op);
  for (const ConstantOperand &constant : flow.constantOperands)
    replace(constant);
  for (auto &[value, channels] : flow.tensors) {
    if (!removal.changes(channels.list))
      continue;
    auto old = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(old.getShape());
    shape[channels.dim] = removal.kept(channels.list).size();
    Value(value).setType(RankedTensorType::get(shape, old.getElementType(),
                                               old.getEncoding()));
  }
  // Erase constants that were replaced.
  SmallVector<Operation *> constants;
  function.walk([&](arith::ConstantOp op) {
    if (op->use_empty())
      constants.push_back(op);
  });
  for (Operation *op : constants)
    op->erase();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kCategory("prune");

/// Reports for each product which outputs were removed, and why constant
/// outputs were kept.
void Pruner::tell() {
  for (const WeightedProduct &product : flow.products) {
    const int64_t count = product.weights.outputs;
    const int64_t left = removal.kept(product.outputs).size();
    Location loc = product.op->getLoc();
    auto named = [](StringRef name) {
      return remark::RemarkOpts::name(name).category(kCategory);
    };
    if (left < count)
      remark::passed(loc, named("channels"))
          << remark::reason("{0} of its {1} output channels vanish",
                            count - left, count);
    const TensorChannels &result = *flow.find(product.op->getResult(0));
    int64_t stay = 0;
    StringRef why;
    for (auto [constant, channel] : llvm::zip(
             result.constants, flow.sets.channels(product.outputs))) {
      if (std::isnan(constant) || removal.isRemoved(channel))
        continue;
      ++stay;
      if (why.empty())
        why = removal.whyKept(channel);
    }
    if (stay)
      remark::missed(loc, named("channels"))
          << remark::reason("{0} of its {1} output channels are constants that "
                            "stay: one of them {2}",
                            stay, count, why);
  }
}

void PruneChannelsPass::runOnOperation() {
  IngotDialect::UsualOfAttrHelper usualOf(&getContext());
  int64_t channels = 0, removed = 0, bytesBefore = 0, bytesAfter = 0;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    Pruner pruner(function);
    // Report before rewriting, while result types still have all channels.
    pruner.tell();
    pruner.run();
    numRemoved += pruner.removed;
    // A copy of the model's body for usual sizes contains the same products. Do
    // not count them a second time.
    if (usualOf.isAttrPresent(function))
      continue;
    channels += pruner.channels;
    removed += pruner.removed;
    bytesBefore += pruner.bytesBefore;
    bytesAfter += pruner.bytesAfter;
  }
  if (bytesAfter == bytesBefore)
    return;
  setCount(getOperation(), Count::channels, channels);
  setCount(getOperation(), Count::channels_removed, removed);
  setCount(getOperation(), Count::unpruned_bytes, bytesBefore);
  setCount(getOperation(), Count::pruned_bytes, bytesAfter);
}
