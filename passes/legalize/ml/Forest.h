//===- Forest.h - decision trees as a table ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the table of all trees of a tree ensemble. A row has the feature,
// the threshold and the two children of a node. A leaf is its own child. Each
// step of a walk waits for the previous step, so each data row walks several
// trees at once until all reach leaves. Reading the table checks that children
// exist and that no node is a child twice. Every walk thus ends.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_ML_FOREST_H
#define INGOT_PASSES_LEGALIZE_ML_FOREST_H

#include "passes/legalize/ml/MachineLearning.h"

#include "llvm/ADT/DenseMap.h"

namespace ingot::legalize {

/// Comparison of a node: feature `mode` threshold. A leaf compares nothing.
enum Mode { kLeq, kLt, kGte, kGt, kEq, kNeq, kLeaf };

struct Forest {
  Node &node;
  int64_t targets = 1;
  std::vector<int64_t> features, children, modes, missing, rows, roots;
  std::vector<double> thresholds;
  /// Weights that leaves add to the targets, and flags that are true if a leaf
  /// has a weight for a target.
  std::vector<double> leaves;
  std::vector<bool> isSaid;
  /// Number of steps from each root to its deepest leaf.
  std::vector<int64_t> depths;
  int64_t mostFeatures = 0;

  /// Element type of feature comparisons and of leaf sums.
  Type number;

  explicit Forest(Node &node)
      : node(node), number(node.builder.getF32Type()) {}
  size_t size() const { return features.size(); }
  int64_t numLeaves() const { return leaves.size() / targets; }

  /// Reads the trees of TreeEnsembleClassifier and TreeEnsembleRegressor.
  /// `prefix` is the prefix of the attributes with leaf weights.
  LogicalResult read(StringRef prefix);
  /// Reads the trees of TreeEnsemble, whose leaves are numbered separately.
  LogicalResult readEnsemble();
  /// Combines the leaves that each row of x reaches. `how` is the
  /// aggregate_function. The result has a row of targets per row of x.
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
  /// The first of the nodes that result from expanding tests of set membership.
  int64_t firstMember = 0;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> places;
};

/// Legalizes ONNX's TreeEnsemble.
LogicalResult legalizeTreeEnsemble(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ML_FOREST_H
