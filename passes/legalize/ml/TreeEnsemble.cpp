//===- TreeEnsemble.cpp - TreeEnsembleClassifier and -Regressor -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/ml/Forest.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static std::optional<Mode> modeOf(StringRef name) {
  return llvm::StringSwitch<std::optional<Mode>>(name)
      .Case("BRANCH_LEQ", kLeq)
      .Case("BRANCH_LT", kLt)
      .Case("BRANCH_GTE", kGte)
      .Case("BRANCH_GT", kGt)
      .Case("BRANCH_EQ", kEq)
      .Case("BRANCH_NEQ", kNeq)
      .Case("LEAF", kLeaf)
      .Default(std::nullopt);
}

LogicalResult Forest::readNodes() {
  auto names = node.op.getNodeAttrs().getAs<ArrayAttr>("nodes_modes");
  auto ints = [&](StringRef name) {
    return node.getInts(name).value_or(SmallVector<int64_t>());
  };
  trees = ints("nodes_treeids");
  ids = ints("nodes_nodeids");
  SmallVector<int64_t> columns = ints("nodes_featureids"),
                       left = ints("nodes_truenodeids"),
                       right = ints("nodes_falsenodeids");
  auto values = node.getFloats("nodes_values").value_or(SmallVector<float>());
  SmallVector<int64_t> tracks = ints("nodes_missing_value_tracks_true");
  size_t count = trees.size();
  if (!names || count == 0)
    return node.invalid("there are no nodes");
  for (auto [name, length] :
       {std::pair<StringRef, size_t>("nodes_nodeids", ids.size()),
        {"nodes_featureids", columns.size()},
        {"nodes_truenodeids", left.size()},
        {"nodes_falsenodeids", right.size()},
        {"nodes_values", values.size()},
        {"nodes_modes", names.size()}})
    if (length != count)
      return node.badLength(name, length, Twine(count) + ", one a node");
  if (!tracks.empty() && tracks.size() != count)
    return node.badLength("nodes_missing_value_tracks_true", tracks.size(),
                          Twine(count) + ", one a node");
  for (size_t i = 0; i < count; ++i)
    if (!places.try_emplace({trees[i], ids[i]}, i).second)
      return node.invalid("tree " + Twine(trees[i]) + " has two nodes " +
                          Twine(ids[i]));
  for (size_t i = 0; i < count; ++i) {
    auto text = dyn_cast<StringAttr>(names[i]);
    auto mode = text ? modeOf(text.getValue()) : std::nullopt;
    if (!mode)
      return node.unsupported("a node of mode " +
                              (text ? text.getValue() : StringRef("?")));
    bool isLeaf = *mode == kLeaf;
    if (!isLeaf && (columns[i] < 0 || columns[i] > nn::kMostElements))
      return node.badElement("nodes_featureids", i, Twine(columns[i]),
                             nn::describeRange({0, nn::kMostElements}));
    features.push_back(isLeaf ? 0 : columns[i]);
    mostFeatures = std::max(mostFeatures, features.back() + 1);
    thresholds.push_back(values[i]);
    modes.push_back(*mode);
    missing.push_back(!tracks.empty() && tracks[i] != 0);
    for (auto [name, child] :
         {std::pair<StringRef, int64_t>("nodes_truenodeids", left[i]),
          {"nodes_falsenodeids", right[i]}}) {
      auto place = places.find({trees[i], child});
      if (!isLeaf && place == places.end())
        return node.invalid(nn::describeElement(name, i, Twine(child)) +
                            ", but tree " + Twine(trees[i]) +
                            " has no such node");
      children.push_back(isLeaf ? int64_t(i) : place->second);
    }
  }
  return success();
}

/// Finds the roots, which are not children of other nodes. Because no node has
/// two parents, every other node is below a root or in a cycle.
LogicalResult Forest::findRoots() {
  std::vector<int64_t> parents(size(), 0), levels(size(), -1), order,
      treeOf(size());
  for (size_t i = 0; i < size(); ++i) {
    if (modes[i] == kLeaf)
      continue;
    for (size_t side : {0, 1}) {
      int64_t child = children[2 * i + side];
      // Allows that both children are the same node.
      if (side == 1 && child == children[2 * i])
        continue;
      if (++parents[child] > 1)
        return node.invalid("node " + Twine(ids[child]) + " of tree " +
                            Twine(trees[child]) + " is a child twice");
    }
  }
  for (size_t i = 0; i < size(); ++i)
    if (parents[i] == 0) {
      treeOf[i] = roots.size();
      roots.push_back(i);
      order.push_back(i);
      levels[i] = 0;
    }
  depths.assign(roots.size(), 0);
  for (size_t next = 0; next < order.size(); ++next) {
    int64_t i = order[next];
    depths[treeOf[i]] = std::max(depths[treeOf[i]], levels[i]);
    if (modes[i] == kLeaf)
      continue;
    for (size_t side : {0, 1}) {
      int64_t child = children[2 * i + side];
      if (levels[child] >= 0)
        continue;
      levels[child] = levels[i] + 1;
      treeOf[child] = treeOf[i];
      order.push_back(child);
    }
  }
  if (order.size() != size())
    return node.invalid("the nodes of a tree form a cycle");
  llvm::DenseMap<int64_t, int64_t> rootOf;
  for (int64_t root : roots)
    if (!rootOf.try_emplace(trees[root], root).second)
      return node.invalid("tree " + Twine(trees[root]) + " has two roots");
  return success();
}

/// Reads a row of weights for each leaf.
LogicalResult Forest::readWeights(StringRef prefix) {
  int64_t count = 0;
  for (size_t i = 0; i < size(); ++i)
    rows.push_back(modes[i] == kLeaf ? count++ : 0);
  constexpr int64_t kMaxWeights = int64_t(1) << 26;
  if (count == 0 || targets > kMaxWeights / count)
    return node.unsupported("a forest of " + Twine(count) + " leaves for " +
                            Twine(targets) + " targets");
  leaves.assign(count * targets, 0);
  isSaid.assign(count * targets, false);
  auto ints = [&](StringRef name) {
    return node.getInts((prefix + name).str()).value_or(SmallVector<int64_t>());
  };
  SmallVector<int64_t> ofTrees = ints("_treeids"), ofNodes = ints("_nodeids"),
                       to = ints("_ids");
  auto weights = node.getFloats((prefix + "_weights").str())
                     .value_or(SmallVector<float>());
  for (auto [name, length] :
       {std::pair<StringRef, size_t>("_nodeids", ofNodes.size()),
        {"_ids", to.size()},
        {"_weights", weights.size()}})
    if (length != ofTrees.size())
      return node.badLength((prefix + name).str(), length,
                            Twine(ofTrees.size()) + ", one a weight");
  for (size_t i = 0; i < weights.size(); ++i) {
    auto place = places.find({ofTrees[i], ofNodes[i]});
    if (place == places.end() || modes[place->second] != kLeaf)
      return node.invalid(
          nn::describeElement((prefix + "_nodeids").str(), i,
                              Twine(ofNodes[i])) +
          ", but tree " + Twine(ofTrees[i]) + " has no such leaf");
    if (to[i] < 0 || to[i] >= targets)
      return node.badElement((prefix + "_ids").str(), i, Twine(to[i]),
                             nn::describeRange({0, targets - 1}));
    int64_t at = rows[place->second] * targets + to[i];
    leaves[at] += weights[i];
    isSaid[at] = true;
  }
  return success();
}

LogicalResult Forest::read(StringRef prefix) {
  if (targets < 1)
    return node.invalid("there are " + Twine(targets) + " targets");
  for (StringRef name : {"nodes_values_as_tensor", "nodes_hitrates_as_tensor",
                         "base_values_as_tensor"})
    if (node.getTensor(name))
      return node.unsupported(name);
  if (failed(readNodes()) || failed(findRoots()))
    return failure();
  return readWeights(prefix);
}

LogicalResult Forest::addBase(Value &scores) {
  auto base = node.getFloats("base_values");
  if (!base || base->empty())
    return success();
  if (int64_t(base->size()) != targets && base->size() != 1)
    return node.badLength("base_values", base->size(), Twine(targets));
  auto sum = node.infer<nn::AddOp>(
      scores, floatConstants(node, *base, {int64_t(base->size())}));
  if (failed(sum))
    return failure();
  scores = *sum;
  return success();
}

static LogicalResult legalizeRegressor(Node &node) {
  auto x = readRows(node, 0);
  Forest forest(node);
  forest.targets = node.getInt("n_targets", 1);
  if (failed(x) || failed(forest.read("target")))
    return failure();
  auto scores =
      forest.score(*x, node.getString("aggregate_function", "SUM"));
  if (failed(scores) || failed(forest.addBase(*scores)))
    return failure();
  auto y = transformScores(node, *scores);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeClassifier(Node &node) {
  auto x = readRows(node, 0);
  auto labels =
      readLabels(node, "classlabels_int64s", "classlabels_strings");
  if (failed(x) || failed(labels))
    return failure();
  Forest forest(node);
  forest.targets = labels->size();
  if (failed(forest.read("class")))
    return failure();
  auto ids = node.getInts("class_ids").value_or(SmallVector<int64_t>());
  // There are two classes, but leaves have weights for only one of them.
  bool isBinary = labels->size() == 2 && !ids.empty() && llvm::all_equal(ids);
  auto scores =
      forest.score(*x, node.getString("aggregate_function", "SUM"));
  if (failed(scores))
    return failure();
  if (!isBinary)
    return failed(forest.addBase(*scores))
               ? failure()
               : replaceByClasses(node, *scores, *labels);
  int64_t known = ids.front();
  Value score = sliceAxis(node, *scores, 1, known, 1);
  auto base = node.getFloats("base_values").value_or(SmallVector<float>());
  if (base.size() > 1)
    return node.badLength("base_values", base.size(), "1");
  if (!base.empty())
    score = binary<nn::AddOp>(
        node, score, scalar(node, node.builder.getF32Type(), base.front()));
  auto weights = node.getFloats("class_weights");
  bool isShare = llvm::all_of(*weights, [](float x) { return x >= 0; });
  float middle = isShare ? 0.5f : 0;
  // post_transform LOGISTIC turns the score into a share.
  bool isLogistic = node.getString("post_transform", "NONE") == "LOGISTIC";
  if (known == 0)
    return replaceByBinary(node, score, middle, isShare && !isLogistic,
                           *labels);
  // Scores of the second class are not transformed, as in ONNX Runtime.
  if (!base.empty())
    return node.unsupported("base_values of one class of two");
  auto shown = transformScores(node, *scores);
  if (failed(shown))
    return failure();
  Value isSecond = binary<nn::GreaterOp>(
      node, reshape(node, score, {sizeOf(node, score, 0)}),
      scalar(node, node.builder.getF32Type(), middle));
  Value label = select(node, isSecond, labels->constant(node, 1),
                       labels->constant(node, 0));
  return node.replace({label, *shown});
}

void legalize::populateTreeEnsemble(Legalizers &legalizers) {
  legalizers.add("TreeEnsemble", legalizeTreeEnsemble, kMlDomain);
  legalizers.add("TreeEnsembleClassifier", legalizeClassifier, kMlDomain);
  legalizers.add("TreeEnsembleRegressor", legalizeRegressor, kMlDomain);
}
