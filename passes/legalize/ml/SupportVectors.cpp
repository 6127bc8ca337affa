//===- SupportVectors.cpp - SVMClassifier, SVMRegressor ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes SVMClassifier and SVMRegressor. The kernel of all rows and all
// support vectors is one matrix. The scores of the pairs of classes are its
// product with constant weights, and so are the votes.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/ml/PairwiseCoupling.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

/// Returns a list of floats, empty if it is left out.
SmallVector<float> floatsOf(Node &node, StringRef name) {
  return node.getFloats(name).value_or(SmallVector<float>());
}

/// Computes the kernel of x (rows, features) and `count` support vectors.
FailureOr<Value> kernelMatrix(Node &node, Value x, int64_t count) {
  auto vectors = floatsOf(node, "support_vectors");
  if (vectors.empty() || vectors.size() % count)
    return node.invalid("support_vectors has " + Twine(vectors.size()) +
                        " elements, but must be a multiple of " +
                        Twine(count));
  int64_t features = vectors.size() / count;
  if (failed(requireFit(node, nn::SizeRelation::equal, sizeOf(node, x, 1),
                        sizeAttr(node, features),
                        "X has {0} features, but the support vectors have "
                        "{1}")))
    return failure();
  StringRef kind = node.getString("kernel_type", "LINEAR");
  auto params = floatsOf(node, "kernel_params");
  if (kind != "LINEAR" && params.size() < 3)
    return node.badLength("kernel_params", params.size(),
                          "3: gamma, coef0 and degree");
  Type f32 = node.builder.getF32Type();
  Value all = floatConstants(node, vectors, {count, features});
  auto number = [&](float value) { return scalar(node, f32, value); };
  if (kind == "RBF") {
    // Subtract before squaring. The expanded square would lose precision for
    // similar rows, because its products cancel.
    auto apart = node.infer<nn::SubOp>(unsqueeze(node, x, {1}), all);
    if (failed(apart))
      return failure();
    Value distance = node.create<nn::ReduceOp>(
        *apart, nn::ReduceKind::sum_square, ArrayRef<int64_t>{2},
        /*keep_dims=*/false);
    return Value(node.make<nn::ExpOp>(
        binary<nn::MulOp>(node, distance, number(-params[0]))));
  }
  auto product = node.infer<nn::MatMulOp>(x, all, Value(),
                                          /*transpose_a=*/false,
                                          /*transpose_b=*/true);
  if (failed(product) || kind == "LINEAR")
    return product;
  Value moved = binary<nn::AddOp>(
      node, binary<nn::MulOp>(node, *product, number(params[0])),
      number(params[1]));
  if (kind == "SIGMOID")
    return Value(node.make<nn::TanhOp>(moved));
  if (kind == "POLY")
    return binary<nn::PowOp>(node, moved, number(params[2]));
  return node.invalid("kernel_type is " + kind +
                      ", but must be LINEAR, POLY, RBF or SIGMOID");
}

/// Support vectors of each class, and their coefficients for each pair of
/// classes.
class Pairs {
public:
  explicit Pairs(Node &node, int64_t classes) : node(node), classes(classes) {}

  LogicalResult read();
  int64_t count() const { return classes * (classes - 1) / 2; }
  int64_t numVectors() const { return starts.back(); }
  /// Computes the score of each pair from (rows, vectors). The score is
  /// positive for the first class of the pair.
  FailureOr<Value> compare(Value kernel);
  /// Counts the pairs that vote for each class.
  FailureOr<Value> countVotes(Value scores);

private:
  Node &node;
  int64_t classes;
  SmallVector<int64_t> starts = {0};
  SmallVector<float> coefficients, rho;
};

LogicalResult Pairs::read() {
  auto counts = node.getInts("vectors_per_class");
  if (!counts || llvm::all_of(*counts, [](int64_t n) { return n == 0; }))
    return node.unsupported("a classifier without support vectors");
  if (int64_t(counts->size()) != classes)
    return node.badLength("vectors_per_class", counts->size(),
                          Twine(classes) + ", one a class");
  for (auto [i, own] : llvm::enumerate(*counts)) {
    constexpr int64_t kMaxVectors = int64_t(1) << 30;
    if (own < 0 || own > kMaxVectors)
      return node.badElement("vectors_per_class", i, Twine(own),
                             nn::describeRange({0, kMaxVectors}));
    starts.push_back(starts.back() + own);
  }
  coefficients = floatsOf(node, "coefficients");
  if (int64_t(coefficients.size()) != (classes - 1) * numVectors())
    return node.badLength("coefficients", coefficients.size(),
                          Twine((classes - 1) * numVectors()));
  rho = floatsOf(node, "rho");
  if (int64_t(rho.size()) != count())
    return node.badLength("rho", rho.size(),
                          Twine(count()) + ", one for two classes");
  return success();
}

FailureOr<Value> Pairs::compare(Value kernel) {
  int64_t vectors = numVectors(), pair = 0;
  SmallVector<float> weights(vectors * count(), 0);
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      for (int64_t v = starts[i]; v < starts[i + 1]; ++v)
        weights[v * count() + pair] = coefficients[(j - 1) * vectors + v];
      for (int64_t v = starts[j]; v < starts[j + 1]; ++v)
        weights[v * count() + pair] = coefficients[i * vectors + v];
    }
  return node.infer<nn::MatMulOp>(
      kernel, floatConstants(node, weights, {vectors, count()}),
      floatConstants(node, rho, {count()}), /*transpose_a=*/false,
      /*transpose_b=*/false);
}

FailureOr<Value> Pairs::countVotes(Value scores) {
  Type f32 = node.builder.getF32Type();
  SmallVector<float> forEach(count() * classes, 0), lost(classes, 0);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      forEach[pair * classes + i] = 1;
      forEach[pair * classes + j] = -1;
      lost[j] += 1;
    }
  Value isFirst = castTo(
      node, binary<nn::GreaterOp>(node, scores, scalar(node, f32, 0)), f32);
  return node.infer<nn::MatMulOp>(
      isFirst, floatConstants(node, forEach, {count(), classes}),
      floatConstants(node, lost, {classes}), /*transpose_a=*/false,
      /*transpose_b=*/false);
}

} // namespace

static LogicalResult legalizeSVMClassifier(Node &node) {
  auto labels = readLabels(node, "classlabels_ints", "classlabels_strings");
  auto x = readRows(node, 0);
  if (failed(labels) || failed(x))
    return failure();
  int64_t classes = labels->size();
  if (classes < 2)
    return node.invalid("there is " + Twine(classes) + " label, but a "
                        "classifier needs 2");
  Pairs pairs(node, classes);
  if (failed(pairs.read()))
    return failure();
  auto kernel = kernelMatrix(node, *x, pairs.numVectors());
  if (failed(kernel))
    return failure();
  auto scores = pairs.compare(*kernel);
  if (failed(scores))
    return failure();
  auto votes = pairs.countVotes(*scores);
  if (failed(votes))
    return failure();
  auto best = node.infer<nn::ArgReduceOp>(*votes, nn::ReduceKind::max, 1,
                                          /*keep_dims=*/false,
                                          /*select_last_index=*/false);
  if (failed(best))
    return failure();
  Value label = node.make<nn::GatherOp>(
      intConstant(node, labels->numbers, {classes}, labels->element), *best,
      /*axis=*/0);
  auto slopes = floatsOf(node, "prob_a"), offsets = floatsOf(node, "prob_b");
  FailureOr<Value> told = *scores;
  if (!slopes.empty() || !offsets.empty())
    told = couplePairs(node, *scores, classes, slopes, offsets);
  else if (classes == 2)
    // Replaces a single score for two classes by a score for each.
    told = concat(node, {node.make<nn::NegOp>(*scores), *scores}, 1);
  if (failed(told))
    return failure();
  auto shown = transformScores(node, *told);
  return failed(shown) ? failure() : node.replace({label, *shown});
}

static LogicalResult legalizeSVMRegressor(Node &node) {
  auto x = readRows(node, 0);
  if (failed(x))
    return failure();
  auto coefficients = floatsOf(node, "coefficients"),
       rho = floatsOf(node, "rho");
  int64_t count = node.getInt("n_supports", 0), length = coefficients.size();
  if (rho.size() != 1)
    return node.badLength("rho", rho.size(), "1");
  if (node.getString("post_transform", "NONE") != "NONE")
    return node.unsupported("post_transform " +
                            node.getString("post_transform", ""));
  // Without support vectors, multiplies the features by the coefficients
  // directly.
  FailureOr<Value> weighed = *x;
  if (count > 0) {
    if (length != count)
      return node.badLength("coefficients", length, Twine(count));
    weighed = kernelMatrix(node, *x, count);
  } else if (count < 0 || length == 0) {
    return node.invalid("n_supports is " + Twine(count) + ", and there are " +
                        Twine(length) + " coefficients");
  } else if (failed(requireFit(node, nn::SizeRelation::equal,
                               sizeOf(node, *x, 1), sizeAttr(node, length),
                               "X has {0} features, but there are "
                               "coefficients of {1}"))) {
    return failure();
  }
  if (failed(weighed))
    return failure();
  auto y = node.infer<nn::MatMulOp>(
      *weighed, floatConstants(node, coefficients, {length, 1}),
      floatConstants(node, rho, {1}), /*transpose_a=*/false,
      /*transpose_b=*/false);
  if (failed(y))
    return failure();
  if (!node.getInt("one_class", 0))
    return node.replace(*y);
  Type f32 = node.builder.getF32Type();
  Value isInside = binary<nn::GreaterOp>(node, *y, scalar(node, f32, 0));
  return node.replace(
      select(node, isInside, scalar(node, f32, 1), scalar(node, f32, -1)));
}

void legalize::populateSupportVectors(Legalizers &legalizers) {
  legalizers.add("SVMClassifier", legalizeSVMClassifier, kMlDomain);
  legalizers.add("SVMRegressor", legalizeSVMRegressor, kMlDomain);
}
