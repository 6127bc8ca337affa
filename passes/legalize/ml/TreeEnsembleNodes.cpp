//===- TreeEnsembleNodes.cpp - TreeEnsemble -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the nodes of TreeEnsemble. Nodes and leaves are numbered separately. A
// node may test membership in a set; it becomes a chain of nodes that test
// equality with one member each.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Elements.h"
#include "passes/legalize/ml/Forest.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// ONNX's mode for a test if the feature is in a set, and the code of this mode
/// until the set is expanded. ONNX's value cannot be the code, because kLeaf
/// has the same value.
static constexpr int64_t kMember = 6, kOneOf = kLeaf + 1;

/// Appends the leaves to the nodes, with a row of weights each.
LogicalResult Forest::readLeaves() {
  ElementsAttr tensor = node.getTensor("leaf_weights");
  auto weights = tensor ? nn::readDoubles(tensor) : std::nullopt;
  auto to = node.getInts("leaf_targetids").value_or(SmallVector<int64_t>());
  if (!weights || weights->empty())
    return node.invalid("there are no leaves");
  if (to.size() != weights->size())
    return node.badLength("leaf_targetids", to.size(),
                          Twine(weights->size()) + ", one a leaf");
  constexpr int64_t kMaxWeights = int64_t(1) << 26;
  if (targets < 1 || targets > kMaxWeights / int64_t(weights->size()))
    return node.unsupported("a forest of " + Twine(weights->size()) +
                            " leaves for " + Twine(targets) + " targets");
  leaves.assign(weights->size() * targets, 0);
  isSaid.assign(weights->size() * targets, false);
  for (auto [i, weight] : llvm::enumerate(*weights)) {
    if (to[i] < 0 || to[i] >= targets)
      return node.badElement("leaf_targetids", i, Twine(to[i]),
                             nn::describeRange({0, targets - 1}));
    leaves[i * targets + to[i]] = weight;
    isSaid[i * targets + to[i]] = true;
    int64_t own = size();
    features.push_back(0);
    thresholds.push_back(0);
    modes.push_back(kLeaf);
    missing.push_back(0);
    rows.push_back(int64_t(i));
    children.insert(children.end(), 2, own);
  }
  return success();
}

/// Expands sets. Each further member becomes a node that tests equality. It is
/// the false child of the previous node and shares its true child.
LogicalResult Forest::readMembers() {
  ElementsAttr tensor = node.getTensor("membership_values");
  auto members = tensor ? nn::readDoubles(tensor) : std::nullopt;
  size_t next = 0;
  firstMember = size();
  for (size_t i = 0, e = size(); i < e; ++i) {
    if (modes[i] != kOneOf)
      continue;
    auto hasMore = [&] {
      return members && next < members->size() &&
             !std::isnan((*members)[next]);
    };
    modes[i] = kEq;
    if (!hasMore())
      return node.invalid("membership_values has no set for node " + Twine(i));
    thresholds[i] = (*members)[next++];
    size_t last = i;
    int64_t trueSide = children[2 * i], falseSide = children[2 * i + 1];
    while (hasMore()) {
      size_t own = size();
      features.push_back(features[i]);
      thresholds.push_back((*members)[next++]);
      modes.push_back(kEq);
      missing.push_back(missing[i]);
      rows.push_back(0);
      children.push_back(trueSide);
      children.push_back(falseSide);
      children[2 * last + 1] = int64_t(own);
      last = own;
    }
    ++next; // Skips the NaN that ends the set.
  }
  return success();
}

/// Appends the depth of a tree to `depths`. Reports a node that is a child
/// twice, because a walk through it might not end. A leaf may be a child twice,
/// because a walk ends there.
LogicalResult Forest::measureFrom(int64_t root, std::vector<bool> &isSeen) {
  SmallVector<std::pair<int64_t, int64_t>> open{{root, 0}};
  int64_t depth = 0;
  while (!open.empty()) {
    auto [i, level] = open.pop_back_val();
    depth = std::max(depth, level);
    if (modes[i] == kLeaf)
      continue;
    if (isSeen[i])
      return node.invalid("node " + Twine(i) + " is a child twice");
    isSeen[i] = true;
    // The nodes of a set share the true child, which is deepest below the last
    // node. Skip this child for all nodes but the last.
    if (children[2 * i + 1] < firstMember)
      open.push_back({children[2 * i], level + 1});
    if (children[2 * i + 1] != children[2 * i])
      open.push_back({children[2 * i + 1], level + 1});
  }
  depths.push_back(depth);
  return success();
}

LogicalResult Forest::readEnsemble() {
  auto ints = [&](StringRef name) {
    return node.getInts(name).value_or(SmallVector<int64_t>());
  };
  ElementsAttr modeTensor = node.getTensor("nodes_modes"),
               splitTensor = node.getTensor("nodes_splits");
  auto asked = modeTensor ? nn::readInts(modeTensor) : std::nullopt;
  auto splits = splitTensor ? nn::readDoubles(splitTensor) : std::nullopt;
  if (!asked || !splits || asked->empty())
    return node.invalid("there are no nodes");
  int64_t count = asked->size();
  SmallVector<int64_t> columns = ints("nodes_featureids"),
                       left = ints("nodes_truenodeids"),
                       right = ints("nodes_falsenodeids"),
                       isLeft = ints("nodes_trueleafs"),
                       isRight = ints("nodes_falseleafs"),
                       tracks = ints("nodes_missing_value_tracks_true");
  if (tracks.empty())
    tracks.assign(count, 0);
  for (auto [name, length] :
       {std::pair<StringRef, size_t>("nodes_splits", splits->size()),
        {"nodes_featureids", columns.size()},
        {"nodes_truenodeids", left.size()},
        {"nodes_falsenodeids", right.size()},
        {"nodes_trueleafs", isLeft.size()},
        {"nodes_falseleafs", isRight.size()},
        {"nodes_missing_value_tracks_true", tracks.size()}})
    if (int64_t(length) != count)
      return node.badLength(name, length, Twine(count) + ", one a node");
  targets = node.getInt("n_targets", 1);

  // Mode has the values of ONNX's modes, except the last.
  for (int64_t i = 0; i < count; ++i) {
    if ((*asked)[i] < 0 || (*asked)[i] > kMember)
      return node.badElement("nodes_modes", i, Twine((*asked)[i]),
                             nn::describeRange({0, kMember}));
    if (columns[i] < 0 || columns[i] > nn::kMostElements)
      return node.badElement("nodes_featureids", i, Twine(columns[i]),
                             nn::describeRange({0, nn::kMostElements}));
    features.push_back(columns[i]);
    mostFeatures = std::max(mostFeatures, columns[i] + 1);
    thresholds.push_back((*splits)[i]);
    modes.push_back((*asked)[i] == kMember ? kOneOf : (*asked)[i]);
    missing.push_back(tracks[i] != 0);
    rows.push_back(0);
    children.insert(children.end(), 2, 0);
  }
  if (failed(readLeaves()))
    return failure();
  int64_t numLeaves = int64_t(size()) - count;
  for (int64_t i = 0; i < count; ++i)
    for (auto [side, name, child, isLeaf] :
         {std::tuple<int, StringRef, int64_t, int64_t>(
              0, "nodes_truenodeids", left[i], isLeft[i]),
          {1, "nodes_falsenodeids", right[i], isRight[i]}}) {
      int64_t most = isLeaf ? numLeaves : count;
      if (child < 0 || child >= most)
        return node.badElement(name, i, Twine(child),
                               nn::describeRange({0, most - 1}));
      children[2 * i + side] = isLeaf ? count + child : child;
    }
  if (failed(readMembers()))
    return failure();
  SmallVector<int64_t> given = ints("tree_roots");
  if (given.empty())
    return node.invalid("there are no roots");
  std::vector<bool> isSeen(size(), false);
  for (auto [k, root] : llvm::enumerate(given)) {
    if (root < 0 || root >= count)
      return node.badElement("tree_roots", k, Twine(root),
                             nn::describeRange({0, count - 1}));
    roots.push_back(root);
    if (failed(measureFrom(root, isSeen)))
      return failure();
  }
  return success();
}

LogicalResult legalize::legalizeTreeEnsemble(Node &node) {
  Type element = node.elementType(0);
  Forest forest(node);
  FailureOr<Value> x = node.input(0);
  if (!element.isF64())
    x = readRows(node, 0);
  else if (node.rank(0) == 2)
    forest.number = element;
  else
    return node.invalid("expects rows and columns, but got rank " +
                        Twine(node.rank(0)));
  if (failed(x) || failed(forest.readEnsemble()))
    return failure();
  constexpr StringRef kHow[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  int64_t how = node.getInt("aggregate_function", 1);
  if (how < 0 || how > 3)
    return node.badElement("aggregate_function", std::nullopt, Twine(how),
                           nn::describeRange({0, 3}));
  auto scores = forest.score(*x, kHow[how]);
  if (failed(scores))
    return failure();
  Value y = *scores;
  switch (int64_t post = node.getInt("post_transform", 0)) {
  case 0:
    break;
  case 1:
    y = node.make<nn::SoftmaxOp>(y, /*axis=*/1, /*log=*/false);
    break;
  case 2:
    y = node.make<nn::SigmoidOp>(y);
    break;
  default:
    return node.unsupported("post_transform " + Twine(post));
  }
  return node.replace(node.cast(y, element));
}
