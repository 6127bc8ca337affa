//===- MergeBranches.cpp - nn-merge-branches ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/graph/Passes.h"
#include "passes/graph/merge/LinearOperator.h"
#include "passes/support/Rewrite.h"
#include "passes/support/ScaleShift.h"
#include "passes/support/Thresholds.h"

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_MERGEBRANCHES
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Returns the number of spatial positions times the batch. An unknown size
/// counts as `threshold::unknownSize`.
static double numPositions(RankedTensorType type, bool channelsLast) {
  double positions = 1;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != channelDim(type.getRank(), channelsLast))
      positions *=
          type.isDynamicDim(i) ? threshold::unknownSize : type.getDimSize(i);
  return positions;
}

/// Returns the cost: the number of multiplications and of accesses to the
/// result and the operand.
static double costOf(const LinearOperator &linear, double positions) {
  return (double(linear.numWeights()) + 2.0 * linear.outputs) * positions;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

namespace {

/// A chain of linear ops from a source to a term of a sum.
struct Branch {
  size_t term = 0;
  Value source;
  /// The ops, from the term up to the source.
  SmallVector<Operation *> ops;
  LinearOperator geometry;
  double cost = 0;
  bool hasConv = false;
};

} // namespace

static Branch traceBranch(Value term, bool channelsLast) {
  RankedTensorType type = typeOf(term);
  Branch branch;
  branch.source = term;
  int64_t channel = channelDim(type.getRank(), channelsLast);
  if (type.isDynamicDim(channel))
    return branch;
  branch.geometry =
      LinearOperator::identity(type.getDimSize(channel), type.getRank() - 2);
  if (!branch.geometry.isBounded())
    return branch;
  branch.geometry.weights.clear();
  branch.geometry.bias.clear();
  // A value with other users must stay, so it ends the branch.
  while (branch.source.hasOneUse()) {
    Operation *op = branch.source.getDefiningOp();
    Value data;
    auto linear =
        op ? getLinearOperator(op, channelsLast, /*withWeights=*/false, data)
           : std::nullopt;
    if (!linear)
      break;
    // Drop the bias. Later, composeBranch checks with the weights if a bias
    // meets a padding.
    linear->weights.clear();
    linear->bias.clear();
    auto composed = compose(*linear, branch.geometry);
    if (!composed)
      break;
    branch.geometry = std::move(*composed);
    branch.cost +=
        costOf(*linear, numPositions(typeOf(branch.source), channelsLast));
    branch.hasConv |= isa<nn::ConvOp>(op);
    branch.ops.push_back(op);
    branch.source = data;
  }
  return branch;
}

/// Composes the branch with weights. Returns nullopt if the chain does not
/// equal one convolution at the borders.
static std::optional<LinearOperator> composeBranch(const Branch &branch,
                                                   bool channelsLast) {
  if (branch.ops.empty())
    return LinearOperator::identity(branch.geometry.inputs,
                                    branch.geometry.dims.size());
  std::optional<LinearOperator> result;
  for (Operation *op : branch.ops) {
    Value data;
    auto linear =
        getLinearOperator(op, channelsLast, /*withWeights=*/true, data);
    if (linear && result)
      linear = compose(*linear, *result);
    if (!linear)
      return std::nullopt;
    result = std::move(linear);
  }
  // The first op of the branch assumes another border than the source has.
  if (!result->outside.empty())
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns true if `op` adds two computed tensors of its own type.
static bool isSum(Operation *op) {
  return isa<nn::AddOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getType() == op->getResult(0).getType() &&
                  !operand.getDefiningOp<arith::ConstantOp>();
         });
}

static void collectTerms(Operation *sum, SmallVectorImpl<Value> &terms,
                         SmallVectorImpl<Location> &locations) {
  locations.push_back(sum->getLoc());
  for (Value operand : sum->getOperands()) {
    Operation *op = operand.getDefiningOp();
    if (op && operand.hasOneUse() && isSum(op))
      collectTerms(op, terms, locations);
    else
      terms.push_back(operand);
  }
}

/// Chooses branches that cost less as one convolution than separately, and
/// computes the geometry of their sum. The most expensive branch comes first.
/// Returns an empty list if fewer than two branches qualify.
static SmallVector<const Branch *>
choose(ArrayRef<Branch> branches, double positions, LinearOperator &geometry) {
  SmallVector<const Branch *> chosen{&branches.front()};
  geometry = branches.front().geometry;
  double addition = 3.0 * geometry.outputs * positions;
  double total = branches.front().cost;
  for (const Branch &branch : branches.drop_front()) {
    auto sum = sumGeometry(geometry, branch.geometry);
    if (!sum || costOf(*sum, positions) >
                    costOf(geometry, positions) + branch.cost + addition)
      continue;
    geometry = std::move(*sum);
    total += branch.cost + addition;
    chosen.push_back(&branch);
  }
  if (chosen.size() < 2 || costOf(geometry, positions) > total)
    chosen.clear();
  return chosen;
}

static SmallVector<int64_t> spatialShape(Value value, bool channelsLast) {
  ArrayRef<int64_t> shape = typeOf(value).getShape().drop_front();
  return SmallVector<int64_t>(channelsLast ? shape.drop_back()
                                           : shape.drop_front());
}

namespace {
/// The sum of branches as one convolution of `source`.
struct MergedConv {
  LinearOperator sum;
  SmallVector<int64_t> pads;
  Value source;
  bool channelsLast;
};
} // namespace

static Value createConv(PatternRewriter &rewriter, Location loc,
                        const MergedConv &conv, RankedTensorType type) {
  const LinearOperator &linear = conv.sum;
  SmallVector<int64_t> shape{linear.outputs, linear.inputsOfGroup()};
  SmallVector<int64_t> strides, dilations;
  for (const OperatorDim &dim : linear.dims) {
    shape.push_back(dim.count);
    strides.push_back(dim.stride);
    dilations.push_back(dim.step);
  }
  Type elementType = type.getElementType();
  Value weights = nn::makeConstant(
      rewriter, loc, RankedTensorType::get(shape, elementType), linear.weights);
  Value bias = linear.hasBias()
                   ? makeVector(rewriter, loc, elementType, linear.bias)
                   : Value();
  return nn::ConvOp::create(rewriter, loc, type, conv.source, weights, bias,
                            strides, conv.pads, dilations, linear.groups,
                            conv.channelsLast);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct MergeBranches : OpRewritePattern<nn::AddOp> {
  MergeBranches(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::AddOp root,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = root.getType();
    bool inner = root->hasOneUse() && isSum(*root->user_begin());
    if (inner || !isSum(root))
      return rewriter.notifyMatchFailure(root,
                                         "is not the last addition of a sum");
    if (type.getRank() < 3 || !isa<FloatType>(type.getElementType()))
      return rewriter.notifyMatchFailure(root, "is not of pixels");
    SmallVector<Value> terms;
    SmallVector<Location> locations;
    collectTerms(root, terms, locations);
    Location loc = rewriter.getFusedLoc(locations);
    for (bool channelsLast : {false, true}) {
      llvm::MapVector<Value, SmallVector<Branch>> bySource;
      for (auto [i, term] : llvm::enumerate(terms)) {
        Branch branch = traceBranch(term, channelsLast);
        branch.term = i;
        bySource[branch.source].push_back(std::move(branch));
      }
      for (auto &[source, branches] : bySource)
        if (succeeded(
                merge(root, loc, terms, branches, channelsLast, rewriter)))
          return success();
    }
    return rewriter.notifyMatchFailure(
        root, "has no branches that are one convolution");
  }

  LogicalResult merge(nn::AddOp root, Location sumLoc, ArrayRef<Value> terms,
                      SmallVector<Branch> &branches, bool channelsLast,
                      PatternRewriter &rewriter) const {
    llvm::sort(branches, [](const Branch &a, const Branch &b) {
      return std::pair(-a.cost, a.term) < std::pair(-b.cost, b.term);
    });
    double positions = numPositions(root.getType(), channelsLast);
    while (branches.size() >= 2 &&
           llvm::any_of(branches, [](const Branch &b) { return b.hasConv; })) {
      LinearOperator sum;
      auto chosen = choose(branches, positions, sum);
      if (chosen.empty())
        return rewriter.notifyMatchFailure(
            root, "has branches that cost less apart");
      Value source = chosen.front()->source;
      auto pads = getPads(sum, spatialShape(source, channelsLast),
                          spatialShape(root, channelsLast));
      if (!pads)
        return rewriter.notifyMatchFailure(
            root, "has branches whose sum no padding fits");
      const Branch *inexact = nullptr;
      for (const Branch *branch : chosen) {
        auto linear = composeBranch(*branch, channelsLast);
        if (!linear) {
          inexact = branch;
          break;
        }
        accumulate(sum, *linear);
      }
      if (inexact) {
        branches.erase(branches.begin() + (inexact - branches.data()));
        continue;
      }
      replace(
          root, sumLoc, terms, chosen,
          {std::move(sum), SmallVector<int64_t>(*pads), source, channelsLast},
          rewriter);
      return success();
    }
    return rewriter.notifyMatchFailure(
        root, "has no two branches of one source with a convolution");
  }

  void replace(nn::AddOp root, Location sumLoc, ArrayRef<Value> terms,
               ArrayRef<const Branch *> chosen, const MergedConv &conv,
               PatternRewriter &rewriter) const {
    SmallVector<Location> locations;
    llvm::SmallBitVector merged(terms.size());
    for (const Branch *branch : chosen) {
      merged.set(branch->term);
      for (Operation *op : llvm::reverse(branch->ops))
        locations.push_back(op->getLoc());
    }
    locations.push_back(sumLoc);
    Value result = createConv(rewriter, rewriter.getFusedLoc(locations), conv,
                              root.getType());
    for (auto [i, term] : llvm::enumerate(terms))
      if (!merged.test(i))
        result = nn::AddOp::create(rewriter, root.getLoc(), root.getType(),
                                   result, term);
    rewriter.replaceOp(root, result);
    count += chosen.size();
  }
  Pass::Statistic &count;
};

struct MergeBranchesPass : ingot::impl::MergeBranchesBase<MergeBranchesPass> {
  using MergeBranchesBase::MergeBranchesBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeBranches>(&getContext(), numMerged);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
