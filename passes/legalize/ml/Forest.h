//===- Forest.h - decision trees as lists -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All trees become one table of nodes: what feature a node looks at, its
// threshold, and its two children; a leaf is its own child. So every row walks
// several trees at once, for each step has to wait for the one before, until
// all have come to leaves. What the table says is checked when it is read:
// children exist, and no node is a child twice, so that walks end.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_ML_FOREST_H
#define INGOT_PASSES_LEGALIZE_ML_FOREST_H

#include "passes/legalize/ml/MachineLearning.h"

#include "llvm/ADT/DenseMap.h"

namespace ingot::legalize {

/// What a node asks: whether the feature is … its threshold. A LEAF asks
/// nothing.
enum Mode { kLeq, kLt, kGte, kGt, kEq, kNeq, kLeaf };

struct Forest {
  Node &node;
  int64_t targets = 1;
  std::vector<int64_t> features, children, modes, missing, rows, roots;
  std::vector<double> thresholds;
  /// What leaves add to the targets, and whether they say anything of one.
  std::vector<double> leaves;
  std::vector<bool> isSaid;
  /// The steps from each root to its deepest leaf.
  std::vector<int64_t> depths;
  int64_t mostFeatures = 0;

  /// What features are compared as, and leaves summed as.
  Type number;

  explicit Forest(Node &node)
      : node(node), number(node.builder.getF32Type()) {}
  size_t size() const { return features.size(); }
  int64_t numLeaves() const { return leaves.size() / targets; }

  /// The trees of TreeEnsembleClassifier and TreeEnsembleRegressor; `prefix` is
  /// that of the attributes that say what leaves weigh.
  LogicalResult read(StringRef prefix);
  /// The trees of TreeEnsemble, whose leaves have numbers of their own.
  LogicalResult readEnsemble();
  /// What the leaves that the rows of x come to say together, as
  /// aggregate_function has it: a row of targets for each row.
  FailureOr<Value> score(Value x, StringRef how);
  LogicalResult addBase(Value &scores);

private:
  LogicalResult readNodes();
  LogicalResult findRoots();
  LogicalResult readWeights(StringRef prefix);
  LogicalResult readLeaves();
  LogicalResult readMembers();
  LogicalResult measureFrom(int64_t root, std::vector<bool> &isSeen);
  void fillGroups(int64_t width, bool isSum);
  void putLeavesLast();
  SmallVector<Value> walk(Value x, int64_t width);
  Value sumLeaves(ArrayRef<Value> rows, StringRef how);

  SmallVector<int64_t> trees, ids;
  /// The first of the nodes that sets were taken apart into.
  int64_t firstMember = 0;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> places;
};

/// ONNX TreeEnsemble.
LogicalResult legalizeTreeEnsemble(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ML_FOREST_H
