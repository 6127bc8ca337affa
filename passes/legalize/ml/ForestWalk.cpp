//===- ForestWalk.cpp - walks through decision trees ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/legalize/ml/Forest.h"
#include "passes/support/Tensors.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;
using mlir::utils::IteratorType;

namespace {

/// Columns of the table. They have 32 bits each, so that the fields of a node
/// are in one or two cache lines. Thresholds of 64 bits are in a separate list.
enum Column { kFeature, kTrueChild, kFalseChild, kThreshold, kModeAndMissing };
/// Bit of kModeAndMissing that is set if a NaN goes to the true side.
constexpr int64_t kMissingBit = 8;

/// Builder of the steps of a walk.
class Walker {
public:
  Walker(const Forest &forest, Value x);

  /// Returns the child of node `here` that row `row` of x goes to.
  Value step(OpBuilder &b, Location loc, Value row, Value here) const;

private:
  Value read(OpBuilder &b, Location loc, Value here, Column column) const {
    return tensor::ExtractOp::create(
        b, loc, table,
        ValueRange{here, arith::ConstantIndexOp::create(b, loc, column)});
  }
  Value isTrue(OpBuilder &b, Location loc, Value here, Value value,
               Value threshold) const;

  Value x, table;
  /// Thresholds of 64 bits, or null.
  Value thresholds;
  SmallVector<Mode> modes;
  bool tracksMissing;
};
} // namespace

static arith::CmpFPredicate predicateOf(Mode mode) {
  switch (mode) {
  case kLeq:
  case kLeaf:
    return arith::CmpFPredicate::OLE;
  case kLt:
    return arith::CmpFPredicate::OLT;
  case kGte:
    return arith::CmpFPredicate::OGE;
  case kGt:
    return arith::CmpFPredicate::OGT;
  case kEq:
    return arith::CmpFPredicate::OEQ;
  case kNeq:
    return arith::CmpFPredicate::UNE;
  }
  llvm_unreachable("a mode");
}

Walker::Walker(const Forest &forest, Value x) : x(x) {
  Node &node = forest.node;
  int64_t count = forest.size();
  bool isWide = forest.number.isF64();
  for (int64_t mode : forest.modes)
    if (mode != kLeaf && !llvm::is_contained(modes, Mode(mode)))
      modes.push_back(Mode(mode));
  if (modes.empty())
    modes.push_back(kLeq);
  tracksMissing = llvm::is_contained(forest.missing, 1);
  bool hasModes = modes.size() > 1 || tracksMissing;

  SmallVector<int64_t> columns;
  for (int64_t i = 0; i < count; ++i) {
    columns.append({forest.features[i], forest.children[2 * i],
                    forest.children[2 * i + 1]});
    columns.push_back(
        isWide ? 0
               : llvm::bit_cast<int32_t>(float(forest.thresholds[i])));
    if (hasModes)
      columns.push_back(forest.modes[i] | forest.missing[i] << kMissingBit);
  }
  Type i32 = node.builder.getI32Type();
  table = intConstant(node, columns, {count, 4 + hasModes}, i32);
  if (isWide)
    thresholds = nn::makeConstant(
        node.builder, node.loc(),
        RankedTensorType::get({count}, forest.number), forest.thresholds);
}

Value Walker::isTrue(OpBuilder &b, Location loc, Value here, Value value,
                     Value threshold) const {
  auto compare = [&](Mode mode) -> Value {
    return arith::CmpFOp::create(b, loc, predicateOf(mode), value, threshold);
  };
  Value holds = compare(modes.front());
  if (modes.size() == 1 && !tracksMissing)
    return holds;
  Value own = read(b, loc, here, kModeAndMissing);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  };
  if (modes.size() > 1) {
    Value mode = arith::AndIOp::create(b, loc, own,
                                       constant((1 << kMissingBit) - 1));
    for (Mode other : ArrayRef(modes).drop_front()) {
      Value isOther = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::eq, mode, constant(other));
      holds = arith::SelectOp::create(b, loc, isOther, compare(other), holds);
    }
  }
  if (tracksMissing) {
    Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                         value, value);
    Value tracks = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, own,
                                         constant(1 << kMissingBit));
    holds = arith::OrIOp::create(
        b, loc, holds, arith::AndIOp::create(b, loc, isNone, tracks));
  }
  return holds;
}

Value Walker::step(OpBuilder &b, Location loc, Value row, Value here) const {
  Indices i{b, loc};
  Value value = tensor::ExtractOp::create(
      b, loc, x, ValueRange{row, i.of(read(b, loc, here, kFeature))});
  Value threshold;
  if (thresholds)
    threshold = tensor::ExtractOp::create(b, loc, thresholds, here);
  else
    threshold = arith::BitcastOp::create(b, loc, b.getF32Type(),
                                         read(b, loc, here, kThreshold));
  Value goes = isTrue(b, loc, here, value, threshold);
  return i.of(i.choose(goes, read(b, loc, here, kTrueChild),
                       read(b, loc, here, kFalseChild)));
}

/// Adds trees until their number is a multiple of `width`. If `isSum`, an added
/// tree is a leaf of weight 0. Otherwise an added tree repeats the last tree,
/// which does not change a minimum or maximum.
void Forest::fillGroups(int64_t width, bool isSum) {
  if (roots.size() % width == 0)
    return;
  int64_t root = roots.back();
  if (isSum) {
    root = size();
    features.push_back(0);
    thresholds.push_back(0);
    modes.push_back(kLeaf);
    missing.push_back(0);
    rows.push_back(numLeaves());
    children.insert(children.end(), 2, root);
    leaves.resize(leaves.size() + targets, 0);
  }
  while (roots.size() % width != 0)
    roots.push_back(root);
}

/// Moves the leaves behind all other nodes, in the order of their rows.
void Forest::putLeavesLast() {
  std::vector<int64_t> order(size()), places(size());
  std::iota(order.begin(), order.end(), 0);
  auto rank = [&](int64_t i) { return modes[i] == kLeaf ? rows[i] : -1; };
  llvm::stable_sort(order,
                    [&](int64_t i, int64_t k) { return rank(i) < rank(k); });
  for (auto [place, i] : llvm::enumerate(order))
    places[i] = place;
  auto reorder = [&](auto &list) {
    auto old = list;
    for (auto [place, i] : llvm::enumerate(order))
      list[place] = old[i];
  };
  reorder(features);
  reorder(thresholds);
  reorder(modes);
  reorder(missing);
  reorder(rows);
  std::vector<int64_t> old = children;
  for (auto [place, i] : llvm::enumerate(order))
    for (size_t side : {0, 1})
      children[2 * place + side] = places[old[2 * i + side]];
  for (int64_t &root : roots)
    root = places[root];
}

/// Walks the trees. Returns, for each row of x, the row of leaf weights that it
/// reaches in each tree. Tensor k of the `width` results is for tree k of each
/// group.
SmallVector<Value> Forest::walk(Value x, int64_t width) {
  Walker walker(*this, x);
  int64_t groups = roots.size() / width, firstLeaf = size() - numLeaves(),
          deepest = *llvm::max_element(depths);
  int64_t steps = deepest <= threshold::treeFewSteps
                      ? std::max<int64_t>(deepest, 1)
                      : threshold::treeSteps;
  OpBuilder &builder = node.builder;
  Type i32 = builder.getI32Type();
  Value starts = intConstant(node, roots, {groups, width}, i32);

  SmallVector<Value> inits;
  for (int64_t k = 0; k < width; ++k)
    inits.push_back(support::empty(
        builder, node.loc(),
        {sizeOf(node, x, 0), OpFoldResult(sizeAttr(node, groups))}, i32));
  SmallVector<AffineMap> maps(width, builder.getMultiDimIdentityMap(2));
  SmallVector<IteratorType> iterators(2, IteratorType::parallel);
  auto walk = linalg::GenericOp::create(
      builder, node.loc(), TypeRange(ValueRange(inits)), ValueRange(), inits,
      maps, iterators, [&](OpBuilder &b, Location loc, ValueRange) {
        Indices i{b, loc};
        Value row = linalg::IndexOp::create(b, loc, 0),
              group = linalg::IndexOp::create(b, loc, 1),
              leaf = i.n(firstLeaf);
        SmallVector<Value> here;
        for (int64_t k = 0; k < width; ++k)
          here.push_back(i.of(tensor::ExtractOp::create(
              b, loc, starts, ValueRange{group, i.n(k)})));
        auto loop = scf::WhileOp::create(
            b, loc, TypeRange(ValueRange(here)), here,
            [&](OpBuilder &b, Location loc, ValueRange args) {
              Indices i{b, loc};
              SmallVector<Value> next(args);
              for (int64_t step = 0; step < steps; ++step)
                for (Value &place : next)
                  place = walker.step(b, loc, row, place);
              Value first = next.front();
              for (Value place : ArrayRef(next).drop_front())
                first = i.min(first, place);
              scf::ConditionOp::create(b, loc, i.less(first, leaf), next);
            },
            [](OpBuilder &b, Location loc, ValueRange args) {
              scf::YieldOp::create(b, loc, args);
            });
        SmallVector<Value> found;
        for (Value place : loop.getResults())
          found.push_back(arith::IndexCastOp::create(
              b, loc, i32, i.sub(place, leaf)));
        linalg::YieldOp::create(b, loc, found);
      });
  return llvm::to_vector_of<Value>(walk.getResults());
}

/// Combines the leaves in `rows`, the results of walk. Keeps the order of the
/// trees, because sums depend on it.
Value Forest::sumLeaves(ArrayRef<Value> rows, StringRef how) {
  bool isMin = how == "MIN", isMax = how == "MAX";
  OpBuilder &builder = node.builder;
  Value table = nn::makeConstant(
      builder, node.loc(),
      RankedTensorType::get({numLeaves(), targets}, number), leaves);
  auto map = [&](ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : dims)
      exprs.push_back(builder.getAffineDimExpr(d));
    return AffineMap::get(3, 0, exprs, node.context());
  };
  SmallVector<AffineMap> maps(rows.size(), map({0, 1}));
  maps.push_back(map({0, 2}));
  double infinity = std::numeric_limits<double>::infinity();
  Value start =
      filled(node, number, isMin ? infinity : isMax ? -infinity : 0,
             {sizeOf(node, rows.front(), 0), sizeAttr(node, targets)});
  SmallVector<IteratorType> iterators{
      IteratorType::parallel, IteratorType::reduction, IteratorType::parallel};
  auto sum = linalg::GenericOp::create(
      builder, node.loc(), TypeRange(start.getType()), rows, start, maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
        Indices i{b, loc};
        Value target = linalg::IndexOp::create(b, loc, 2);
        Value all = args.back();
        for (Value arg : args.drop_back()) {
          Value weight = tensor::ExtractOp::create(
              b, loc, table, ValueRange{i.of(arg), target});
          if (isMin)
            all = arith::MinimumFOp::create(b, loc, all, weight);
          else if (isMax)
            all = arith::MaximumFOp::create(b, loc, all, weight);
          else
            all = arith::AddFOp::create(b, loc, all, weight);
        }
        linalg::YieldOp::create(b, loc, all);
      });
  return sum.getResult(0);
}

FailureOr<Value> Forest::score(Value x, StringRef how) {
  if (failed(requireFit(node, nn::SizeRelation::atLeast, sizeOf(node, x, 1),
                        sizeAttr(node, mostFeatures),
                        "X has {0} features, but the trees read {1}")))
    return failure();
  bool isLowestOrHighest = how == "MIN" || how == "MAX";
  if (how != "SUM" && how != "AVERAGE" && !isLowestOrHighest)
    return node.invalid("aggregate_function is " + how);
  if (isLowestOrHighest &&
      !llvm::all_of(isSaid, [](bool said) { return said; }))
    return node.unsupported("aggregate_function " + how +
                            " of leaves that do not have all targets");
  int64_t trees = roots.size(), width = std::min(trees, threshold::treesAtOnce);
  fillGroups(width, !isLowestOrHighest);
  putLeavesLast();
  Value scores = sumLeaves(walk(x, width), how);
  if (how == "AVERAGE")
    scores = binary<nn::MulOp>(node, scores,
                               scalar(node, number, 1.0 / double(trees)));
  return scores;
}
