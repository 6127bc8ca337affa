//===- MachineLearning.cpp - linear models, scalers, imputers ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes numeric operators of ai.onnx.ml, which scikit-learn pipelines are
// exported to. Labels.cpp handles string labels, Encoders.cpp encoders.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "passes/legalize/ml/MachineLearning.h"
#include "passes/legalize/text/NGrams.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

//===----------------------------------------------------------------------===//
// Scores and classes
//===----------------------------------------------------------------------===//

FailureOr<Value> legalize::readRows(Node &node, size_t i) {
  if (!node.has(i))
    return node.invalid("input " + Twine(i) + " is missing");
  if (!isa<FloatType, IntegerType>(node.elementType(i)) ||
      isString(node.elementType(i)))
    return node.invalid("input " + Twine(i) + " is not of numbers");
  Value x = castTo(node, node.input(i), node.builder.getF32Type());
  if (node.rank(i) == 1)
    return unsqueeze(node, x, {0});
  if (node.rank(i) != 2)
    return node.invalid("input " + Twine(i) + " has rank " +
                        Twine(node.rank(i)) + ", but needs 2");
  return x;
}

Value legalize::floatConstants(Node &node, ArrayRef<float> values,
                               ArrayRef<int64_t> shape) {
  std::vector<double> wide(values.begin(), values.end());
  return nn::makeConstant(
      node.builder, node.loc(),
      RankedTensorType::get(shape, node.builder.getF32Type()), wide);
}

/// Computes exp(s - m) / z of each score s, where m is the largest score and z
/// the sum of the exponentials. Scores near 0 are left out of the sum and
/// become s exp(-m) / z, as in ONNX Runtime.
static Value softmaxZero(Node &node, Value scores) {
  Type f32 = node.builder.getF32Type();
  SmallVector<int64_t> last = {typeOf(scores).getRank() - 1};
  auto reduce = [&](Value x, nn::ReduceKind kind) -> Value {
    return node.create<nn::ReduceOp>(x, kind, last, /*keep_dims=*/true);
  };
  Value most = reduce(scores, nn::ReduceKind::max);
  Value isZero = binary<nn::LessOrEqualOp>(
      node, unary<nn::AbsOp>(node, scores), scalar(node, f32, 1e-7f));
  Value power = unary<nn::ExpOp>(node, binary<nn::SubOp>(node, scores, most));
  Value total = reduce(select(node, isZero, scalar(node, f32, 0), power),
                       nn::ReduceKind::sum);
  Value small = binary<nn::MulOp>(
      node, scores,
      unary<nn::ExpOp>(node, Value(node.make<nn::NegOp>(most))));
  return binary<nn::DivOp>(node, select(node, isZero, small, power), total);
}

/// Computes the probit of each score p, sqrt(2) erfinv(2 p - 1). The
/// approximation of erfinv is the one by S. Winitzki that ONNX and ONNX Runtime
/// use.
static Value probit(Node &node, Value scores) {
  auto number = [&](double value) {
    return scalar(node, node.builder.getF32Type(), value);
  };
  auto times = [&](Value x, Value y) { return binary<nn::MulOp>(node, x, y); };
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  Value x = binary<nn::SubOp>(node, times(scores, number(2)), number(1));
  Value rest = times(binary<nn::SubOp>(node, number(1), x),
                     binary<nn::AddOp>(node, number(1), x));
  Value log = unary<nn::LogOp>(node, rest);
  Value half = binary<nn::AddOp>(node, times(log, number(0.5)),
                                 number(2 / (kPi * kA)));
  Value root = unary<nn::SqrtOp>(
      node, binary<nn::SubOp>(node, times(half, half),
                              times(log, number(1 / kA))));
  Value size = unary<nn::SqrtOp>(node, binary<nn::SubOp>(node, root, half));
  size = times(size, number(1.4142135623730951));
  Value isNegative = binary<nn::LessOp>(node, x, number(0));
  return select(node, isNegative, node.make<nn::NegOp>(size), size);
}

FailureOr<Value> legalize::transformScores(Node &node, Value scores) {
  StringRef name = node.getString("post_transform", "NONE");
  if (name == "NONE")
    return scores;
  if (name == "LOGISTIC")
    return node.make<nn::SigmoidOp>(scores);
  if (name == "SOFTMAX")
    return node.make<nn::SoftmaxOp>(scores, typeOf(scores).getRank() - 1,
                                    /*log=*/false);
  if (name == "SOFTMAX_ZERO")
    return softmaxZero(node, scores);
  if (name == "PROBIT")
    return probit(node, scores);
  return node.invalid("post_transform is " + name);
}

LogicalResult legalize::replaceByClasses(Node &node, Value scores,
                                         const Labels &labels) {
  if (typeOf(scores).getDimSize(1) != labels.size())
    return node.invalid("there are " + Twine(labels.size()) +
                        " labels, but scores of " +
                        Twine(typeOf(scores).getDimSize(1)) + " classes");
  auto best = node.infer<nn::ArgReduceOp>(scores, nn::ReduceKind::max, 1,
                                          /*keep_dims=*/false,
                                          /*select_last_index=*/false);
  auto shown = transformScores(node, scores);
  if (failed(best) || failed(shown))
    return failure();
  Value label = node.make<nn::GatherOp>(
      intConstant(node, labels.numbers, {labels.size()}, labels.element), *best,
      /*axis=*/0);
  return node.replace({label, *shown});
}

LogicalResult legalize::replaceByBinary(Node &node, Value score, float middle,
                                        bool isShare, const Labels &labels) {
  Type f32 = node.builder.getF32Type();
  if (labels.size() != 2)
    return node.invalid("one score for " + Twine(labels.size()) +
                        " classes, but it can tell 2");
  StringRef name = node.getString("post_transform", "NONE");
  // As in ONNX, a softmax compares a score with its negation, and a probit
  // needs shares.
  bool isSoftmax = name == "SOFTMAX" || name == "SOFTMAX_ZERO";
  if (isSoftmax)
    middle = 0;
  bool hasRest = name == "PROBIT" || (isShare && !isSoftmax);
  Value isSecond =
      binary<nn::GreaterOp>(node, score, scalar(node, f32, middle));
  Value label = select(node, reshape(node, isSecond, {sizeOf(node, score, 0)}),
                       labels.constant(node, 1), labels.constant(node, 0));
  Value other = hasRest ? binary<nn::SubOp>(node, scalar(node, f32, 1), score)
                        : node.make<nn::NegOp>(score);
  Value both = concat(node, {other, score}, 1);
  // The caller has already applied LOGISTIC to the share.
  auto shown = isShare && name == "LOGISTIC" ? FailureOr<Value>(both)
                                             : transformScores(node, both);
  return failed(shown) ? failure() : node.replace({label, *shown});
}

//===----------------------------------------------------------------------===//
// Linear models
//===----------------------------------------------------------------------===//

/// Multiplies rows by coefficients (targets, features) and adds intercepts.
static FailureOr<Value> linearScores(Node &node, int64_t targets) {
  auto x = readRows(node, 0);
  auto coefficients = node.getFloats("coefficients");
  auto intercepts = node.getFloats("intercepts");
  if (failed(x))
    return failure();
  if (!coefficients || targets < 1 || coefficients->size() % targets)
    return node.invalid("coefficients are not a multiple of " + Twine(targets) +
                        " targets");
  int64_t features = coefficients->size() / targets;
  if (failed(requireFit(node, nn::SizeRelation::equal, sizeOf(node, *x, 1),
                        sizeAttr(node, features),
                        "X has {0} features, but there are coefficients of "
                        "{1}")))
    return failure();
  Value bias;
  if (intercepts && !intercepts->empty()) {
    if (int64_t(intercepts->size()) != targets)
      return node.badLength("intercepts", intercepts->size(), Twine(targets));
    bias = floatConstants(node, *intercepts, {targets});
  }
  return node.infer<nn::MatMulOp>(
      *x, floatConstants(node, *coefficients, {targets, features}), bias,
      /*transpose_a=*/false, /*transpose_b=*/true);
}

static LogicalResult legalizeLinearRegressor(Node &node) {
  auto scores = linearScores(node, node.getInt("targets", 1));
  if (failed(scores))
    return failure();
  auto y = transformScores(node, *scores);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeLinearClassifier(Node &node) {
  auto labels = readLabels(node, "classlabels_ints", "classlabels_strings");
  if (failed(labels))
    return failure();
  auto intercepts = node.getFloats("intercepts");
  int64_t classes = labels->size();
  bool isBinary = classes == 2 && intercepts && intercepts->size() == 1;
  auto scores = linearScores(node, isBinary ? 1 : classes);
  if (failed(scores))
    return failure();
  if (!isBinary)
    return replaceByClasses(node, *scores, *labels);
  bool isLogistic = node.getString("post_transform", "NONE") == "LOGISTIC";
  Value score = isLogistic ? Value(node.make<nn::SigmoidOp>(*scores)) : *scores;
  return replaceByBinary(node, score, isLogistic ? 0.5f : 0,
                         /*isShare=*/true, *labels);
}

//===----------------------------------------------------------------------===//
// Scalers, imputers
//===----------------------------------------------------------------------===//

/// Returns a list of one value, or of one per column of x, as a constant.
static FailureOr<Value> columnsOf(Node &node, StringRef name, Value x,
                                  float otherwise) {
  auto values = node.getFloats(name).value_or(SmallVector<float>{otherwise});
  int64_t count = values.size();
  if (count != 1 &&
      failed(requireFit(node, nn::SizeRelation::equal, sizeAttr(node, count),
                        sizeOf(node, x, 1),
                        name + " has {0} elements, but there are {1} "
                               "columns")))
    return failure();
  return floatConstants(node, values, {count});
}

static LogicalResult legalizeScaler(Node &node) {
  auto x = readRows(node, 0);
  if (failed(x))
    return failure();
  auto offset = columnsOf(node, "offset", *x, 0);
  auto scale = columnsOf(node, "scale", *x, 1);
  if (failed(offset) || failed(scale))
    return failure();
  auto moved = node.infer<nn::SubOp>(*x, *offset);
  auto y = failed(moved) ? moved : node.infer<nn::MulOp>(*moved, *scale);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeNormalizer(Node &node) {
  auto x = readRows(node, 0);
  if (failed(x))
    return failure();
  StringRef norm = node.getString("norm", "MAX");
  auto reduce = [&](Value of, nn::ReduceKind kind) -> Value {
    return node.create<nn::ReduceOp>(of, kind, ArrayRef<int64_t>{1},
                                     /*keep_dims=*/true);
  };
  Value size;
  if (norm == "MAX")
    size = reduce(*x, nn::ReduceKind::max);
  else if (norm == "L1")
    size = reduce(node.make<nn::AbsOp>(*x), nn::ReduceKind::sum);
  else if (norm == "L2")
    size = node.make<nn::SqrtOp>(reduce(*x, nn::ReduceKind::sum_square));
  else
    return node.invalid("norm is " + norm);
  Type f32 = node.builder.getF32Type();
  Value isZero = binary<nn::EqualOp>(node, size, scalar(node, f32, 0));
  Value divisor = select(node, isZero, scalar(node, f32, 1), size);
  return node.replace(binary<nn::DivOp>(node, *x, divisor));
}

static LogicalResult legalizeBinarizer(Node &node) {
  if (!node.has(0))
    return node.invalid("X is missing");
  Type type = node.elementType(0);
  Value isAbove = binary<nn::GreaterOp>(
      node, node.input(0), scalar(node, type, node.getFloat("threshold", 0)));
  return node.replace(castTo(node, isAbove, type));
}

static LogicalResult legalizeImputer(Node &node) {
  if (!node.has(0) || node.rank(0) < 1)
    return node.invalid("X of rank 1 or more is needed");
  Value x = node.input(0);
  int64_t last = node.rank(0) - 1;
  Value isMissing, filled;
  int64_t count;
  if (isa<FloatType>(node.elementType(0))) {
    auto values = node.getFloats("imputed_value_floats");
    if (!values || values->empty())
      return node.invalid("imputed_value_floats is missing");
    float replaced = node.getFloat("replaced_value_float", 0);
    isMissing = std::isnan(replaced)
                    ? Value(node.make<nn::IsNaNOp>(x))
                    : binary<nn::EqualOp>(
                          node, x, scalar(node, node.elementType(0), replaced));
    count = values->size();
    filled = castTo(node, floatConstants(node, *values, {count}),
                    node.elementType(0));
  } else {
    auto values = node.getInts("imputed_value_int64s");
    if (!values || values->empty())
      return node.invalid("imputed_value_int64s is missing");
    count = values->size();
    isMissing = binary<nn::EqualOp>(
        node, x,
        intConstant(node, {node.getInt("replaced_value_int64", 0)}, {},
                    node.elementType(0)));
    filled = intConstant(node, *values, {count}, node.elementType(0));
  }
  if (count != 1 &&
      failed(requireFit(node, nn::SizeRelation::equal, sizeAttr(node, count),
                        sizeOf(node, x, last),
                        "there are {0} imputed values for {1} columns")))
    return failure();
  return node.replace(select(node, isMissing, filled, x));
}

/// Legalizes ArrayFeatureExtractor, which gathers columns by index.
static LogicalResult legalizeArrayFeatureExtractor(Node &node) {
  if (!node.has(0) || !node.has(1) || node.rank(0) < 1)
    return node.invalid("X of rank 1 or more, and Y, are needed");
  Value x = node.rank(0) == 1 ? unsqueeze(node, node.input(0), {0})
                              : node.input(0);
  int64_t last = typeOf(x).getRank() - 1;
  OpFoldResult count = countElements(node, node.input(1));
  if (failed(requireElements(node, 1, "Y",
                             {sizeOf(node, x, last), /*includesCount=*/false,
                              "columns"})))
    return failure();
  Value indices = reshape(
      node, castTo(node, node.input(1), node.builder.getI64Type()), {count});
  auto y = node.infer<nn::GatherOp>(x, indices, last);
  return failed(y) ? failure() : node.replace(*y);
}

void legalize::populateMachineLearning(Legalizers &legalizers) {
  auto add = [&](StringRef name, Legalizer legalizer) {
    legalizers.add(name, legalizer, kMlDomain);
  };
  populateEncoders(legalizers);
  populateStrings(legalizers);
  add("ArrayFeatureExtractor", legalizeArrayFeatureExtractor);
  add("Binarizer", legalizeBinarizer);
  add("Imputer", legalizeImputer);
  add("LinearClassifier", legalizeLinearClassifier);
  add("LinearRegressor", legalizeLinearRegressor);
  add("Normalizer", legalizeNormalizer);
  add("Scaler", legalizeScaler);
  legalizers.add("TfIdfVectorizer", legalizeTfIdfVectorizer);
}
